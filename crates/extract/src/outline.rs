//! The outline of a page: which boxes stand in which, without a tree of its text.
//!
//! Only elements that separate text are remembered, each with its parent and what its names hint
//! at. Their order is that of the source, so an element always comes after the one it stands in:
//! sums over what an element holds need one pass from the back.
//!
//! Start tags close what they imply the end of, as a tree builder would (`<li>` an `li`, `<p>` a
//! `p`); an end tag closes up to its element, or nothing if none is open. Each step is bounded, so
//! the outline takes time linear in the page.

use xxhash_rust::xxh3::xxh3_64;

use super::hints::{self, HINTS};
use rhumb_page::html::{StartTag, Tag};

/// Elements remembered; text beyond is taken to stand in the last ones.
const ELEMENTS_MAX: usize = 200_000;
/// Elements within elements; deeper ones count as part of the last.
const DEPTH_MAX: usize = 400;
/// Open elements that an end tag looks through for its own.
const SEARCH_MAX: usize = 128;
/// Bytes of a page for each of its elements, on most pages: what is made room for.
const ELEMENT_BYTES_LIKELY: usize = 192;
/// Names whose hints are remembered while a page is read; a power of two.
const NAMES_KEPT: usize = 512;

/// What an element is, or stands in: the structure that the standard's own elements tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Role {
    Article,
    Main,
    Nav,
    Header,
    Footer,
    Aside,
    Form,
    Table,
    List,
    Hidden,
    Noscript,
    Quote,
    Code,
    Figure,
    Button,
    Section,
    Paragraph,
    Heading,
    Folded,
    Body,
}

pub(super) const ROLES: usize = Role::Body as usize + 1;
/// Roles and hints together: what an element inherits.
pub(super) const SIGNS: usize = ROLES + HINTS;

/// How near the nearest element with a sign is: 255 the element itself, less the farther out, 0 if
/// there is none.
pub(super) type Nearness = [u8; SIGNS];
/// What one level further out takes off.
const NEARNESS_STEP: u8 = 20;
/// The nearness of a sign that an element has itself, or the one around it.
pub(super) const NEAR: u8 = 255 - NEARNESS_STEP;

#[derive(Clone, Debug)]
pub(super) struct Element {
    pub parent: u32,
    pub tag: Tag,
    pub depth: u16,
    /// Tag and names as a number: siblings of one kind have the same.
    pub signature: u32,
    /// The signatures from here out, as a number.
    pub path: u64,
    pub near: Nearness,
}

pub(super) struct Outline {
    pub elements: Vec<Element>,
    open: Vec<u32>,
    /// Open elements by tag: an end tag without a start tag is told at once.
    open_by_tag: [u16; 256],
    /// Start tags beyond the depth that have not ended.
    too_deep: u32,
    names: Box<[(u64, u32)]>,
}

impl Outline {
    pub(super) fn new(html_bytes: usize) -> Outline {
        let root = Element {
            parent: 0,
            tag: Tag::Html,
            depth: 0,
            signature: 0,
            path: 0,
            near: [0; SIGNS],
        };
        let mut elements = Vec::with_capacity((html_bytes / ELEMENT_BYTES_LIKELY).max(16));
        elements.push(root);
        Outline {
            elements,
            open: vec![0],
            open_by_tag: [0; 256],
            too_deep: 0,
            names: vec![(0, 0); NAMES_KEPT].into_boxed_slice(),
        }
    }

    /// The innermost open element.
    #[inline]
    pub(super) fn current(&self) -> u32 {
        self.open[self.open.len() - 1]
    }

    pub(super) fn start(&mut self, start: &StartTag<'_>) {
        let tag = start.tag;
        self.close_implied(tag);
        if is_void(tag) || (start.foreign && start.self_closing) {
            return;
        }
        if self.open.len() >= DEPTH_MAX || self.elements.len() >= ELEMENTS_MAX {
            self.too_deep = self.too_deep.saturating_add(1);
            return;
        }
        let parent = self.current();
        let outer = &self.elements[parent as usize];
        let (depth, outer_path) = (outer.depth + 1, outer.path);
        let mut near = outer.near;
        for sign in &mut near {
            *sign = match *sign {
                0 => 0,
                n => n.saturating_sub(NEARNESS_STEP).max(1),
            };
        }
        let signature = self.names_of(start, &mut near);
        if let Some(role) = role_of(tag) {
            near[role as usize] = 255;
        }
        let path =
            outer_path.rotate_left(13).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ u64::from(signature);
        self.open.push(self.elements.len() as u32);
        self.open_by_tag[tag as usize] += 1;
        self.elements.push(Element { parent, tag, depth, signature, path, near });
    }

    /// Reads the names of an element into `near`; its signature.
    fn names_of(&mut self, start: &StartTag<'_>, near: &mut Nearness) -> u32 {
        let mut signature = start.tag as u32 + 1;
        for attribute in start.attributes() {
            // Most attributes are none of these, which their length tells.
            let (is_class, is_name) = match attribute.name.len() {
                5 if attribute.is("class") => (true, true),
                2 => (false, attribute.is("id")),
                4 => (false, attribute.is("role")),
                8 => (false, attribute.is("itemprop")),
                5 | 6 | 11 => (false, false),
                _ => continue,
            };
            if !is_name {
                if is_hiding(attribute.name, attribute.raw) {
                    near[Role::Hidden as usize] = 255;
                }
                continue;
            }
            if attribute.raw.is_empty() {
                continue;
            }
            let (hash, bits) = self.hints_of(attribute.raw);
            if is_class {
                signature ^= hash as u32 & !0xFF;
            } else if let Some(role) = role_named(attribute.raw) {
                near[role as usize] = 255;
            }
            // Most names hint at nothing, or at one thing.
            let mut left = bits;
            while left != 0 {
                near[ROLES + left.trailing_zeros() as usize] = 255;
                left &= left - 1;
            }
        }
        signature
    }

    /// A hash of the names, and their hints: pages repeat the same few names.
    fn hints_of(&mut self, names: &str) -> (u64, u32) {
        let hash = xxh3_64(names.as_bytes()) | 1;
        let kept = &mut self.names[(hash >> 32) as usize % NAMES_KEPT];
        if kept.0 != hash {
            *kept = (hash, hints::hints_in(names));
        }
        *kept
    }

    /// Closes the element that ends here; whether there was one.
    pub(super) fn end(&mut self, tag: Tag) {
        if is_void(tag) {
            return;
        }
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        if self.open_by_tag[tag as usize] == 0 {
            return;
        }
        // Nearly always it is the innermost one that ends.
        if self.elements[self.current() as usize].tag == tag {
            return self.close();
        }
        let search = self.open.iter().rev().take(SEARCH_MAX).take_while(|open| {
            let within = self.elements[**open as usize].tag;
            within == tag || !is_wall(within, tag)
        });
        let depth = search.map(|open| self.elements[*open as usize].tag).position(|t| t == tag);
        if let Some(depth) = depth {
            (0..=depth).for_each(|_| self.close());
        }
    }

    fn close(&mut self) {
        if self.open.len() > 1
            && let Some(closed) = self.open.pop()
        {
            self.open_by_tag[self.elements[closed as usize].tag as usize] -= 1;
        }
    }

    /// Closes what a start tag implies the end of.
    fn close_implied(&mut self, tag: Tag) {
        use Tag::*;
        let inner = self.elements[self.current() as usize].tag;
        match tag {
            Li if self.open_by_tag[Li as usize] > 0 => self.close_item(&[Li], &[Ul, Ol, Menu]),
            Dt | Dd if inner != Dl => self.close_item(&[Dt, Dd], &[Dl]),
            Tr => self.close_item(&[Tr], &[Table]),
            Td | Th => self.close_item(&[Td, Th], &[Tr, Table]),
            Thead | Tbody | Tfoot => self.close_item(&[Thead, Tbody, Tfoot], &[Table]),
            Body | Head => (),
            _ if inner == P && !tag.is_inline() && !is_void(tag) => self.close(),
            Hr if inner == P => self.close(),
            _ => (),
        }
    }

    /// Closes up to the nearest of `items`, unless one of `walls` is nearer.
    fn close_item(&mut self, items: &[Tag], walls: &[Tag]) {
        const ITEM_SEARCH_MAX: usize = 16;
        for (above, open) in self.open.iter().rev().take(ITEM_SEARCH_MAX).enumerate() {
            let tag = self.elements[*open as usize].tag;
            if items.contains(&tag) {
                (0..=above).for_each(|_| self.close());
                return;
            }
            if walls.contains(&tag) || tag == Tag::Table {
                return;
            }
        }
    }
}

/// What an end tag does not reach through.
fn is_wall(within: Tag, ended: Tag) -> bool {
    matches!(within, Tag::Td | Tag::Th | Tag::Caption | Tag::Table)
        && !matches!(
            ended,
            Tag::Table | Tag::Tr | Tag::Tbody | Tag::Thead | Tag::Tfoot | Tag::Body | Tag::Html
        )
}

fn is_void(tag: Tag) -> bool {
    use Tag::*;
    matches!(
        tag,
        Area | Base
            | Br
            | Col
            | Embed
            | Hr
            | Img
            | Input
            | Link
            | Meta
            | Param
            | Source
            | Track
            | Wbr
    )
}

fn role_of(tag: Tag) -> Option<Role> {
    use Tag::*;
    Some(match tag {
        Article => Role::Article,
        Main => Role::Main,
        Nav => Role::Nav,
        Header | Hgroup => Role::Header,
        Footer => Role::Footer,
        Aside => Role::Aside,
        Form | Fieldset | Select | Label => Role::Form,
        Table => Role::Table,
        Ul | Ol | Dl | Menu | Dir => Role::List,
        Noscript => Role::Noscript,
        Blockquote => Role::Quote,
        Pre | Listing | Xmp => Role::Code,
        Figure | Figcaption | Picture | Video | Audio | Svg => Role::Figure,
        Button => Role::Button,
        Section => Role::Section,
        P => Role::Paragraph,
        H1 | H2 | H3 | H4 | H5 | H6 => Role::Heading,
        Details | Dialog => Role::Folded,
        Body => Role::Body,
        _ => return None,
    })
}

/// The roles of ARIA that mean what an element of HTML means.
fn role_named(name: &str) -> Option<Role> {
    Some(match name {
        "article" => Role::Article,
        "main" => Role::Main,
        "navigation" | "menu" | "menubar" | "tablist" => Role::Nav,
        "banner" => Role::Header,
        "contentinfo" => Role::Footer,
        "complementary" => Role::Aside,
        "search" | "form" => Role::Form,
        "dialog" | "alertdialog" => Role::Folded,
        _ => return None,
    })
}

fn is_hiding(name: &str, value: &str) -> bool {
    match name {
        "hidden" => true,
        "aria-hidden" => value == "true",
        "style" => {
            let mut plain = value.bytes().filter(|b| !b.is_ascii_whitespace());
            let mut text = [0; 64];
            let length = plain.by_ref().zip(&mut text).map(|(b, to)| *to = b).count();
            let text = &text[..length];
            [&b"display:none"[..], b"visibility:hidden"]
                .iter()
                .any(|hiding| text.windows(hiding.len()).any(|w| w.eq_ignore_ascii_case(hiding)))
        }
        _ => false,
    }
}
