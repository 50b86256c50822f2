//! The names of elements, as numbers.
//!
//! A name of at most eight bytes is packed into a `u64` while it is scanned, and a table without
//! collisions tells what it stands for: one multiplication, one look, and no string.

macro_rules! tags {
    ($($variant:ident $name:literal),* $(,)? ; $($long:ident $long_name:literal),* $(,)?) => {
        /// An element's name, if it is one that HTML gives a meaning to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Tag {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
            $(#[doc = concat!("`", $long_name, "`")] $long,)*
            /// Any other name.
            Other,
        }

        /// The tags of short names, with their keys.
        const PACKED: &[(u64, Tag)] = &[$((pack($name.as_bytes()), Tag::$variant),)*];

        impl Tag {
            /// The tag of a name longer than [`PACKED_BYTES_MAX`] bytes.
            pub(super) fn of_long(name: &str) -> Tag {
                $(if name.eq_ignore_ascii_case($long_name) { return Tag::$long; })*
                Tag::Other
            }
        }
    };
}

tags! {
    A "a", Abbr "abbr", Acronym "acronym", Address "address", Applet "applet", Area "area",
    Article "article", Aside "aside", Audio "audio", B "b", Base "base", Bdi "bdi", Bdo "bdo",
    Big "big", Body "body", Br "br", Button "button", Canvas "canvas", Caption "caption",
    Center "center", Cite "cite", Code "code", Col "col", Colgroup "colgroup", Data "data",
    Datalist "datalist", Dd "dd", Del "del", Desc "desc", Details "details", Dfn "dfn",
    Dialog "dialog", Dir "dir", Div "div", Dl "dl", Dt "dt", Em "em", Embed "embed",
    Fieldset "fieldset", Figure "figure", Font "font", Footer "footer", Form "form",
    Frame "frame", Frameset "frameset", H1 "h1", H2 "h2", H3 "h3", H4 "h4", H5 "h5", H6 "h6",
    Head "head", Header "header", Hgroup "hgroup", Hr "hr", Html "html", I "i", Iframe "iframe",
    Img "img", Input "input", Ins "ins", Kbd "kbd", Label "label", Legend "legend", Li "li",
    Link "link", Listing "listing", Main "main", Map "map", Mark "mark", Marquee "marquee",
    Math "math", Menu "menu", Meta "meta", Meter "meter", Mglyph "mglyph", Mi "mi", Mn "mn",
    Mo "mo", Ms "ms", Mtext "mtext", Nav "nav", Nobr "nobr", Noembed "noembed",
    Noframes "noframes", Noscript "noscript", Object "object", Ol "ol", Optgroup "optgroup",
    Option "option", Output "output", P "p", Param "param", Picture "picture", Pre "pre",
    Progress "progress", Q "q", Rb "rb", Rp "rp", Rt "rt", Rtc "rtc", Ruby "ruby", S "s",
    Samp "samp", Script "script", Search "search", Section "section", Select "select",
    Slot "slot", Small "small", Source "source", Span "span", Strike "strike", Strong "strong",
    Style "style", Sub "sub", Summary "summary", Sup "sup", Svg "svg", Table "table",
    Tbody "tbody", Td "td", Template "template", Textarea "textarea", Tfoot "tfoot", Th "th",
    Thead "thead", Time "time", Title "title", Tr "tr", Track "track", Tt "tt", U "u", Ul "ul",
    Var "var", Video "video", Wbr "wbr", Xmp "xmp";
    AnnotationXml "annotation-xml", Blockquote "blockquote", Figcaption "figcaption",
    ForeignObject "foreignobject", Malignmark "malignmark", Plaintext "plaintext",
}

/// The longest name that is packed; the few longer ones are compared as strings.
pub(super) const PACKED_BYTES_MAX: usize = 8;

/// Scatters the keys of all short names over [`PLACES`] so that no two meet.
const SCATTER: u64 = 0xD25E_4068_8208_AD93;
const PLACES: usize = 1024;

/// For each place the one key that belongs there, and its tag.
static BY_KEY: [(u64, Tag); PLACES] = {
    let mut places = [(0, Tag::Other); PLACES];
    let mut at = 0;
    while at < PACKED.len() {
        let place = place_of(PACKED[at].0);
        assert!(places[place].0 == 0, "two names meet: SCATTER must be another odd number");
        places[place] = PACKED[at];
        at += 1;
    }
    places
};

const fn place_of(key: u64) -> usize {
    (key.wrapping_mul(SCATTER) >> 54) as usize
}

/// The key of one more byte of a name.
#[inline(always)]
pub(super) const fn pack_byte(key: u64, byte: u8) -> u64 {
    (key << 8) | byte.to_ascii_lowercase() as u64
}

const fn pack(name: &[u8]) -> u64 {
    assert!(name.len() <= PACKED_BYTES_MAX, "a longer name belongs to the second list");
    let (mut key, mut at) = (0, 0);
    while at < name.len() {
        key = pack_byte(key, name[at]);
        at += 1;
    }
    key
}

impl Tag {
    /// The tag whose name of at most [`PACKED_BYTES_MAX`] bytes packs to `key`.
    #[inline]
    pub(super) fn of_packed(key: u64) -> Tag {
        let (own, tag) = BY_KEY[place_of(key)];
        if own == key { tag } else { Tag::Other }
    }

    /// Whether the element runs within a line of text: `un<b>break</b>able` is one word. All others
    /// separate words.
    pub fn is_inline(self) -> bool {
        use Tag::*;
        matches!(
            self,
            A | Abbr
                | Acronym
                | B
                | Bdi
                | Bdo
                | Big
                | Cite
                | Code
                | Data
                | Del
                | Dfn
                | Em
                | Font
                | I
                | Ins
                | Kbd
                | Label
                | Mark
                | Nobr
                | Q
                | Rb
                | Ruby
                | S
                | Samp
                | Small
                | Span
                | Strike
                | Strong
                | Sub
                | Sup
                | Time
                | Tt
                | U
                | Var
                | Wbr
                | Noscript
                | Script
                | Style
                | Link
                | Meta
                | Template
                | Slot
                | Other
        )
    }

    /// Whether a start tag of this name inside `svg` or `math` ends them (the standard's list;
    /// `font` only with certain attributes).
    pub(super) fn breaks_out_of_foreign_content(self) -> bool {
        use Tag::*;
        matches!(
            self,
            B | Big
                | Blockquote
                | Body
                | Br
                | Center
                | Code
                | Dd
                | Div
                | Dl
                | Dt
                | Em
                | Embed
                | H1
                | H2
                | H3
                | H4
                | H5
                | H6
                | Head
                | Hr
                | I
                | Img
                | Li
                | Listing
                | Menu
                | Meta
                | Nobr
                | Ol
                | P
                | Pre
                | Ruby
                | S
                | Small
                | Span
                | Strong
                | Strike
                | Sub
                | Sup
                | Table
                | Tt
                | U
                | Ul
                | Var
        )
    }
}
