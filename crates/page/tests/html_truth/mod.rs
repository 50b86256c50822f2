//! What html5ever's tree says of a page: links, base, title, visible text. We compare with it.
//!
//! Elements and text are taken in the order in which they were created, which is the order of the
//! source: where a tree builder moves things (foster parenting), order in the tree would differ.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tokenizer::TokenizerOpts;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{Attribute, ExpandedName, ParseOpts, QualName, parse_document};

/// A page by html5ever.
#[derive(Debug, Default)]
pub struct Truth {
    /// The kind of link and the reference as written, in order.
    pub references: Vec<(&'static str, String)>,
    pub base: Option<String>,
    pub title: Option<String>,
    /// Without any white space.
    pub text: String,
}

/// Parses with scripting off.
pub fn tree(html: &str) -> Vec<Rc<Node>> {
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..Default::default() };
    // Left to itself html5ever drops a byte order mark wherever its reading begins anew, as after a
    // script.
    let tokenizer = TokenizerOpts { discard_bom: false, ..Default::default() };
    let html = html.strip_prefix('\u{FEFF}').unwrap_or(html);
    parse_document(Sink::default(), ParseOpts { tree_builder, tokenizer }).one(html)
}

pub fn truth(html: &str) -> Truth {
    let mut truth = Truth::default();
    let nodes = tree(html);
    let mut title: Option<(usize, String)> = None;
    for node in &nodes {
        match &node.kind {
            Kind::Text(text) => {
                let text = text.borrow();
                if let Some(parent) = node.parent.borrow().as_ref()
                    && parent.is_html("title")
                    && !parent.is_inert()
                {
                    let id = Rc::as_ptr(parent) as usize;
                    match &mut title {
                        Some((seen, title)) if *seen == id => title.push_str(&text),
                        Some((_, title)) if !title.trim().is_empty() => (),
                        _ => title = Some((id, text.clone())),
                    }
                }
                if !node.is_hidden() {
                    let shown = |c: &char| !c.is_ascii_whitespace() && *c > ' ';
                    truth.text.extend(text.chars().filter(shown));
                }
            }
            Kind::Element(_) if !node.is_inert() => truth.element(node),
            _ => (),
        }
    }
    let folded =
        |(_, title): (usize, String)| title.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    // A template and its content hold each other.
    for content in nodes.iter().filter_map(|node| node.content.as_ref()) {
        content.parent.take();
    }
    truth.title = title.map(folded).filter(|title| !title.is_empty());
    truth
}

impl Truth {
    fn element(&mut self, node: &Node) {
        let Kind::Element(name) = &node.kind else { return };
        let is_html = &*name.ns == "http://www.w3.org/1999/xhtml";
        let local = &*name.local;
        let mut push = |kind, value: Option<String>| {
            self.references.extend(value.map(|value| (kind, value)));
        };
        match local {
            "a" => push("Anchor", node.attribute("href")),
            _ if !is_html => (),
            "area" => push("Area", node.attribute("href")),
            "iframe" | "frame" => push("Frame", node.attribute("src")),
            "base" if self.base.is_none() => self.base = node.attribute("href"),
            "link" => {
                let rel = node.attribute("rel").unwrap_or_default().to_ascii_lowercase();
                let is = |word: &str| rel.split_ascii_whitespace().any(|w| w == word);
                let kind = node.attribute("type").unwrap_or_default().to_ascii_lowercase();
                let kind = kind.split(';').next().unwrap_or_default().trim().to_owned();
                let is_feed = ["rss+xml", "atom+xml", "feed+json", "rdf+xml"]
                    .iter()
                    .any(|feed| kind == format!("application/{feed}"));
                if is("canonical") {
                    push("Canonical", node.attribute("href"));
                } else if is("next") {
                    push("Next", node.attribute("href"));
                } else if is("prev") || is("previous") {
                    push("Previous", node.attribute("href"));
                } else if is("alternate") && !is("stylesheet") {
                    push(if is_feed { "Feed" } else { "Alternate" }, node.attribute("href"));
                }
            }
            "meta"
                if node
                    .attribute("http-equiv")
                    .is_some_and(|h| h.eq_ignore_ascii_case("refresh")) =>
            {
                let content = node.attribute("content").unwrap_or_default();
                let target = content.split_once(['=']).map(|(_, target)| target.trim().to_owned());
                push("Refresh", target.map(|target| target.trim_matches(['\'', '"']).to_owned()));
            }
            _ => (),
        }
    }
}

#[derive(Debug)]
pub struct Node {
    kind: Kind,
    parent: RefCell<Option<Rc<Node>>>,
    attributes: RefCell<Vec<Attribute>>,
    /// Of a template: what holds its content.
    content: Option<Rc<Node>>,
    integrates: bool,
}

#[derive(Debug)]
enum Kind {
    Document,
    Element(QualName),
    Text(RefCell<String>),
    Other,
}

impl Node {
    fn new(kind: Kind) -> Node {
        Node {
            kind,
            parent: RefCell::default(),
            attributes: RefCell::default(),
            content: None,
            integrates: false,
        }
    }

    fn attribute(&self, local: &str) -> Option<String> {
        let attributes = self.attributes.borrow();
        attributes.iter().find(|a| &*a.name.local == local).map(|a| a.value.to_string())
    }

    fn is_html(&self, local: &str) -> bool {
        let Kind::Element(name) = &self.kind else { return false };
        &*name.local == local && &*name.ns == "http://www.w3.org/1999/xhtml"
    }

    fn any_ancestor(&self, is: impl Fn(&Node) -> bool) -> bool {
        let mut next = self.parent.borrow().clone();
        while let Some(node) = next {
            if is(&node) {
                return true;
            }
            next = node.parent.borrow().clone();
        }
        false
    }

    /// In a template, or a template.
    fn is_inert(&self) -> bool {
        let inert = |n: &Node| n.is_html("template") && n.attribute("shadowrootmode").is_none();
        inert(self) || self.any_ancestor(inert)
    }

    fn is_hidden(&self) -> bool {
        self.is_inert()
            || self.any_ancestor(|node| {
                let Kind::Element(name) = &node.kind else { return false };
                let hidden = ["title", "iframe", "noembed", "noframes"];
                ["script", "style"].contains(&&*name.local)
                    || hidden.iter().any(|local| node.is_html(local))
            })
    }
}

/// Deep trees must not be dropped by recursion.
impl Drop for Node {
    fn drop(&mut self) {
        let mut next = self.parent.take();
        while let Some(node) = next.and_then(Rc::into_inner) {
            next = node.parent.take();
        }
    }
}

struct Sink {
    document: Rc<Node>,
    nodes: RefCell<Vec<Rc<Node>>>,
}

impl Default for Sink {
    fn default() -> Sink {
        Sink { document: Rc::new(Node::new(Kind::Document)), nodes: RefCell::default() }
    }
}

impl Sink {
    fn created(&self, node: Node) -> Rc<Node> {
        let node = Rc::new(node);
        self.nodes.borrow_mut().push(node.clone());
        node
    }

    fn put(&self, parent: Option<Rc<Node>>, child: NodeOrText<Rc<Node>>) {
        let node = match child {
            NodeOrText::AppendNode(node) => node,
            NodeOrText::AppendText(text) => {
                self.created(Node::new(Kind::Text(RefCell::new(text.to_string()))))
            }
        };
        *node.parent.borrow_mut() = parent;
    }
}

impl TreeSink for Sink {
    type Handle = Rc<Node>;
    type Output = Vec<Rc<Node>>;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Vec<Rc<Node>> {
        self.nodes.into_inner()
    }
    fn parse_error(&self, _: Cow<'static, str>) {}
    fn get_document(&self) -> Rc<Node> {
        self.document.clone()
    }
    fn elem_name<'a>(&'a self, target: &'a Rc<Node>) -> ExpandedName<'a> {
        match &target.kind {
            Kind::Element(name) => name.expanded(),
            _ => panic!("not an element"),
        }
    }
    fn create_element(
        &self,
        name: QualName,
        attrs: Vec<Attribute>,
        flags: ElementFlags,
    ) -> Rc<Node> {
        let mut node = Node::new(Kind::Element(name));
        node.attributes = RefCell::new(attrs);
        node.integrates = flags.mathml_annotation_xml_integration_point;
        node.content = flags.template.then(|| Rc::new(Node::new(Kind::Other)));
        let node = self.created(node);
        if let Some(content) = &node.content {
            *content.parent.borrow_mut() = Some(node.clone());
        }
        node
    }
    fn create_comment(&self, _: StrTendril) -> Rc<Node> {
        Rc::new(Node::new(Kind::Other))
    }
    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Rc<Node> {
        Rc::new(Node::new(Kind::Other))
    }
    fn append(&self, parent: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        self.put(Some(parent.clone()), child);
    }
    fn append_based_on_parent_node(
        &self,
        element: &Rc<Node>,
        previous: &Rc<Node>,
        child: NodeOrText<Rc<Node>>,
    ) {
        let parent = element.parent.borrow().clone();
        self.put(Some(parent.unwrap_or_else(|| previous.clone())), child);
    }
    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}
    fn get_template_contents(&self, target: &Rc<Node>) -> Rc<Node> {
        target.content.clone().expect("a template")
    }
    fn same_node(&self, x: &Rc<Node>, y: &Rc<Node>) -> bool {
        Rc::ptr_eq(x, y)
    }
    fn set_quirks_mode(&self, _: QuirksMode) {}
    fn append_before_sibling(&self, sibling: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        let parent = sibling.parent.borrow().clone();
        self.put(parent, child);
    }
    fn add_attrs_if_missing(&self, target: &Rc<Node>, attrs: Vec<Attribute>) {
        let mut own = target.attributes.borrow_mut();
        for attribute in attrs {
            if own.iter().all(|a| a.name != attribute.name) {
                own.push(attribute);
            }
        }
    }
    fn remove_from_parent(&self, target: &Rc<Node>) {
        *target.parent.borrow_mut() = None;
    }
    fn reparent_children(&self, node: &Rc<Node>, new_parent: &Rc<Node>) {
        for child in self.nodes.borrow().iter() {
            let mut parent = child.parent.borrow_mut();
            if parent.as_ref().is_some_and(|parent| Rc::ptr_eq(parent, node)) {
                *parent = Some(new_parent.clone());
            }
        }
    }
    fn is_mathml_annotation_xml_integration_point(&self, handle: &Rc<Node>) -> bool {
        handle.integrates
    }
}
