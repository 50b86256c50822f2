//! JSON-LD: what a page says about itself for machines.
//!
//! No vocabulary is resolved and no reference followed: the properties that pages use are looked
//! for in every object, at most [`OBJECTS_MAX`] of them, and the object whose type is that of a
//! page's subject is believed first.

use serde_json::{Map, Value};

use super::stated::{Stated, StatedWhere, prefer};
use super::{Metadata, StatedDate, VALUE_BYTES_MAX, VALUES_MAX};

/// Bytes of one script that are read.
pub(super) const SCRIPT_BYTES_MAX: usize = 1 << 20;
/// Objects looked at in one script.
const OBJECTS_MAX: usize = 2_000;
/// Bytes kept of an article's text.
const BODY_BYTES_MAX: usize = 1 << 20;

/// Reads a script into `metadata`; the article's text, if it holds one.
pub(super) fn read(script: &str, metadata: &mut Metadata) -> Result<Option<String>, ()> {
    let script = script.trim().trim_end_matches(';');
    let script = script.strip_prefix("<![CDATA[").unwrap_or(script);
    let script = script.strip_suffix("]]>").unwrap_or(script);
    let value: Value = serde_json::from_str(script).map_err(|_| ())?;
    let mut body = None;
    let mut left = OBJECTS_MAX;
    walk(&value, true, &mut left, &mut |object, is_outer| {
        let found = object_read(object, is_outer, metadata);
        if body.is_none() {
            body = found;
        }
    });
    Ok(body)
}

fn walk(
    value: &Value,
    is_outer: bool,
    left: &mut usize,
    visit: &mut impl FnMut(&Map<String, Value>, bool),
) {
    if *left == 0 {
        return;
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter().for_each(|item| walk(item, is_outer, left, visit)),
        Value::Object(object) => {
            visit(object, is_outer);
            for (name, inner) in object {
                if matches!(inner, Value::Array(_) | Value::Object(_)) {
                    walk(inner, is_outer && name == "@graph", left, visit);
                }
            }
        }
        _ => (),
    }
}

fn object_read(
    object: &Map<String, Value>,
    is_outer: bool,
    metadata: &mut Metadata,
) -> Option<String> {
    let types = texts(object.get("@type"));
    for name in &types {
        let is_known = metadata.json_ld_types.iter().any(|known| known == name);
        if !is_known && metadata.json_ld_types.len() < VALUES_MAX && name.len() < 64 {
            metadata.json_ld_types.push((*name).to_owned());
        }
    }
    let is_any = |ends: &[&str]| types.iter().any(|name| ends.iter().any(|e| name.ends_with(e)));
    let is_article = is_any(&["Article", "Posting", "Report", "Review", "Recipe", "Story"]);
    let is_subject = is_article || is_any(&["Product", "Page", "Event", "Book", "Course", "Video"]);
    if is_any(&["WebSite"])
        && let Some(name) = text(object.get("name"))
    {
        prefer(&mut metadata.site_name, Stated::new(name, StatedWhere::JsonLd, 0.7));
    }
    if !is_subject {
        return None;
    }
    // What stands within another thing is likely to be about another page.
    let trust = if is_article { 0.95 } else { 0.7 } - if is_outer { 0.0 } else { 0.25 };
    let title = text(object.get("headline")).or_else(|| text(object.get("name")));
    said(&mut metadata.title, title, trust - 0.05);
    said(&mut metadata.description, text(object.get("description")), trust - 0.2);
    said(&mut metadata.author, names(object.get("author")), trust);
    let date = |name: &str| text(object.get(name)).and_then(|text| StatedDate::parse(&text));
    said(&mut metadata.published, date("datePublished"), trust);
    said(&mut metadata.modified, date("dateModified"), trust);
    said(&mut metadata.language, text(object.get("inLanguage")), trust - 0.3);
    said(&mut metadata.site_name, names(object.get("publisher")), trust - 0.35);
    if metadata.license.is_none() {
        metadata.license = text(object.get("license"));
    }
    let body = object.get("articleBody").or_else(|| object.get("text"))?.as_str()?;
    (is_outer && body.len() <= BODY_BYTES_MAX).then(|| body.to_owned())
}

fn said<T>(known: &mut Option<Stated<T>>, value: Option<T>, confidence: f32) {
    if let Some(value) = value {
        prefer(known, Stated::new(value, StatedWhere::JsonLd, confidence));
    }
}

/// A text, or the first of several.
fn text(value: Option<&Value>) -> Option<String> {
    let text = *texts(value).first()?;
    let text = rhumb_page::html::decode_references(text);
    let text = text.trim();
    (!text.is_empty() && text.len() <= VALUE_BYTES_MAX).then(|| text.to_owned())
}

fn texts(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(items)) => {
            items.iter().take(VALUES_MAX).filter_map(Value::as_str).collect()
        }
        _ => Vec::new(),
    }
}

/// Names of people or organisations, however they are given.
fn names(value: Option<&Value>) -> Option<String> {
    const NAMES_MAX: usize = 8;
    let one = |value: &Value| match value {
        Value::String(_) => text(Some(value)).filter(|name| !name.starts_with("http")),
        Value::Object(object) => text(object.get("name")),
        _ => None,
    };
    let found: Vec<String> = match value? {
        Value::Array(items) => items.iter().take(NAMES_MAX).filter_map(one).collect(),
        other => one(other).into_iter().collect(),
    };
    (!found.is_empty()).then(|| found.join(", "))
}
