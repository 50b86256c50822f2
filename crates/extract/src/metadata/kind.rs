//! What kind of page this is, from what it says about itself, its address and its shape.

use serde::Serialize;

use super::Metadata;
use rhumb_page::url::Url;

/// What kind of page it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageKind {
    /// A text to be read from its beginning to its end.
    Article,
    /// People talking: threads, questions and answers.
    Forum,
    /// A thing for sale.
    Product,
    /// Things for sale, in rows.
    Collection,
    /// Links to texts, in rows.
    Listing,
    /// How something works.
    Documentation,
    /// An offer, a home page, and what fits nowhere else.
    #[default]
    Other,
}

impl PageKind {
    /// As it is written in rows.
    pub fn word(self) -> &'static str {
        match self {
            PageKind::Article => "article",
            PageKind::Forum => "forum",
            PageKind::Product => "product",
            PageKind::Collection => "collection",
            PageKind::Listing => "listing",
            PageKind::Documentation => "documentation",
            PageKind::Other => "other",
        }
    }
}

/// Signs of a kind, each 0 (none), 1 (in the address) or 2 (said outright).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hints {
    pub article: u8,
    pub forum: u8,
    pub product: u8,
    pub collection: u8,
    pub documentation: u8,
}

impl Hints {
    pub(crate) fn of(metadata: &Metadata, generator: &str, url: &Url) -> Hints {
        let path = url.path_and_query().to_ascii_lowercase();
        let host = url.host();
        let in_path = |words: &[&str]| u8::from(words.iter().any(|word| path.contains(word)));
        let in_host = |words: &[&str]| u8::from(words.iter().any(|word| host.starts_with(word)));
        let mut hints = Hints {
            article: in_path(&["/article", "/blog/", "/news/", "/story", "/post/", "/20"]),
            forum: in_path(&[
                "thread",
                "topic",
                "forum",
                "/t/",
                "/questions/",
                "discuss",
                "/comments/",
            ]) | in_host(&["forum", "community", "discuss", "discourse", "board", "ask."]),
            product: in_path(&["/product/", "/products/", "/p/", "/dp/", "/item", "/itm/", "/pdp"]),
            collection: in_path(&[
                "/collection",
                "/category",
                "/c/",
                "/shop",
                "/search",
                "/browse",
            ]),
            documentation: in_path(&[
                "/docs",
                "/doc/",
                "/reference",
                "/guide",
                "/manual",
                "/api",
                "/wiki",
            ]) | in_host(&[
                "docs.",
                "doc.",
                "developer",
                "help.",
                "support.",
                "learn.",
                "wiki.",
            ]),
        };
        hints.hear_stated_types(metadata);
        let forums = ["discourse", "phpbb", "vbulletin", "xenforo", "mybb", "smf", "flarum"];
        if forums.iter().any(|forum| generator.contains(forum)) {
            hints.forum = 2;
        }
        let manuals = ["sphinx", "docusaurus", "mkdocs", "hugo-book", "vitepress", "gitbook"];
        if manuals.iter().any(|manual| generator.contains(manual)) {
            hints.documentation = 2;
        }
        hints
    }

    /// The types that the page states of itself, in JSON-LD and Open Graph.
    fn hear_stated_types(&mut self, metadata: &Metadata) {
        let types = metadata.json_ld_types.iter().map(String::as_str);
        let graph = metadata.open_graph.iter().filter(|(key, _)| key == "og:type");
        for name in types.chain(graph.map(|(_, value)| value.as_str())) {
            let said = match name {
                "article" | "Recipe" | "Report" => &mut self.article,
                _ if name.ends_with("ForumPosting") || name.ends_with("QAPage") => &mut self.forum,
                _ if name.ends_with("Article") || name.ends_with("Posting") => &mut self.article,
                "product" | "Product" | "ProductGroup" | "og:product" | "product.item" => {
                    &mut self.product
                }
                "CollectionPage" | "ItemList" | "OfferCatalog" | "product.group" => {
                    &mut self.collection
                }
                "TechArticle" | "APIReference" => &mut self.documentation,
                _ => continue,
            };
            *said = 2;
        }
    }
}

/// The kind, from the hints and the shape: how much of the main text is links, and of how much.
pub(crate) fn kind_of(hints: Hints, main_words: u32, main_link_part: f32) -> PageKind {
    const WORDS_OF_A_TEXT: u32 = 150;
    const LINKS_OF_A_LIST: f32 = 0.4;
    let is_list = main_link_part > LINKS_OF_A_LIST;
    let stands_out = |hint: u8, level: u8| hint >= level;
    let by_hint = |level| {
        if stands_out(hints.forum, level) {
            Some(PageKind::Forum)
        } else if stands_out(hints.product, level) && !stands_out(hints.collection, level.max(2)) {
            Some(PageKind::Product)
        } else if stands_out(hints.documentation, level) && !is_list {
            Some(PageKind::Documentation)
        } else if stands_out(hints.collection, level) && is_list {
            Some(PageKind::Collection)
        } else if stands_out(hints.article, level) && !is_list {
            Some(PageKind::Article)
        } else {
            None
        }
    };
    if let Some(kind) = by_hint(2).or_else(|| by_hint(1)) {
        return kind;
    }
    match main_words {
        _ if is_list => PageKind::Listing,
        WORDS_OF_A_TEXT.. => PageKind::Article,
        _ => PageKind::Other,
    }
}
