//! Marks: what a page asks of those who read it, and whether it came whole. One byte of its record.

use serde::{Deserialize, Serialize};
use std::ops::BitOr;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Marks(u8);

impl Marks {
    pub const NONE: Marks = Marks(0);
    /// Not to be shown in search.
    pub const NOINDEX: Marks = Marks(1);
    /// Its links were not followed.
    pub const NOFOLLOW: Marks = Marks(2);
    /// No copy is to be kept.
    pub const NOARCHIVE: Marks = Marks(4);
    /// The body is not whole: cut at a limit, or on its way.
    pub const TRUNCATED: Marks = Marks(8);

    /// It says next to nothing without its scripts.
    pub const SCRIPTED: Marks = Marks(16);

    /// It has more links than are followed of one page.
    pub const LINKS_CUT: Marks = Marks(32);

    const ALL: [(Marks, &str); 6] = [
        (Marks::NOINDEX, "noindex"),
        (Marks::NOFOLLOW, "nofollow"),
        (Marks::NOARCHIVE, "noarchive"),
        (Marks::TRUNCATED, "truncated"),
        (Marks::SCRIPTED, "scripted"),
        (Marks::LINKS_CUT, "links_cut"),
    ];

    /// This mark if it is set, else none.
    pub fn when(self, is_set: bool) -> Marks {
        if is_set { self } else { Marks::NONE }
    }

    pub fn has(self, mark: Marks) -> bool {
        self.0 & mark.0 == mark.0
    }

    /// The words used in reports and documentation.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        Marks::ALL.into_iter().filter(move |(mark, _)| self.has(*mark)).map(|(_, word)| word)
    }
}

impl BitOr for Marks {
    type Output = Marks;

    fn bitor(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }
}
