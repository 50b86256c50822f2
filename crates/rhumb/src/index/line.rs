//! A JSON line that becomes a page of an index: `{id, title?, text | html, url?}`, and whatever
//! else a row of `rhumb extract` has.

use std::borrow::Cow;

use rhumb_node::extract::{ExtractedRow, Wish, headings};
use rhumb_search::SearchPage;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(default)]
    id: Value,
    #[serde(borrow, default)]
    url: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    title: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    html: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    language: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    published: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    modified: Option<Cow<'a, str>>,
    #[serde(default)]
    noindex: bool,
}

/// The page of a line, or what is wrong with it; none of one that asks not to be indexed.
pub fn page(line: &[u8]) -> Result<Option<SearchPage>, String> {
    let line: Line<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    if line.noindex {
        return Ok(None);
    }
    let id = match &line.id {
        Value::String(id) => id.clone(),
        Value::Number(id) => id.to_string(),
        Value::Null => return Err("no id".to_owned()),
        _ => return Err("an id that is neither a text nor a number".to_owned()),
    };
    let is_address = |id: &&String| id.starts_with("http://") || id.starts_with("https://");
    let url = line.url.map(Cow::into_owned).or_else(|| Some(&id).filter(is_address).cloned());
    let said = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned).unwrap_or_default();
    let day = said(line.modified.or(line.published));
    let page = SearchPage {
        url: url.unwrap_or_default(),
        title: said(line.title),
        language: said(line.language),
        day,
        ..SearchPage::default()
    };
    match (line.text, line.html) {
        (Some(text), _) => Ok(Some(SearchPage { id, text: text.into_owned(), ..page })),
        (None, Some(html)) => of_html(id, &html, page).map(Some),
        (None, None) => Err("neither text nor html".to_owned()),
    }
}

/// What the line says itself wins over what is read in its HTML.
fn of_html(id: String, html: &str, page: SearchPage) -> Result<SearchPage, String> {
    let wish = Wish { keeps_all: true, markdown: true };
    let url = Some(page.url.as_str()).filter(|url| !url.is_empty());
    let row = ExtractedRow::of(Value::Null, html, url, wish);
    if let Some(error) = row.error {
        return Err(error);
    }
    let or = |said: String, read: Option<String>| match said.is_empty() {
        true => read.unwrap_or_default(),
        false => said,
    };
    Ok(SearchPage {
        id,
        title: or(page.title, row.title),
        headings: headings(row.markdown.as_deref().unwrap_or_default()),
        text: row.text,
        language: or(page.language, row.language),
        kind: "html".to_owned(),
        day: or(page.day, row.modified.or(row.published)),
        ..page
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_text_and_of_html_are_pages_and_others_are_named() {
        let text = page(br#"{"id": 7, "title": "Tides", "text": "Twice a day"}"#)
            .expect("a line")
            .expect("a page");
        assert_eq!((text.id.as_str(), text.title.as_str()), ("7", "Tides"));
        let html = r#"{"id": "a", "url": "https://e.org/", "html": "<title>Sea</title><h1>Tides</h1><p>The sea rises and falls twice a day, drawn by the moon, and by the sun a little."}"#;
        let html = page(html.as_bytes()).expect("a line").expect("a page");
        assert!(html.text.contains("drawn by the moon"), "{html:?}");
        assert_eq!(html.kind, "html");
        let url =
            page(br#"{"id": "https://e.org/a", "text": ""}"#).expect("a line").expect("a page");
        assert_eq!(url.url, "https://e.org/a");
        let asks = page(br#"{"id": 1, "text": "x", "noindex": true}"#);
        assert_eq!(asks, Ok(None));
        for bad in ["{", "[]", r#"{"text": "x"}"#, r#"{"id": [], "text": "x"}"#, r#"{"id": 1}"#] {
            assert!(page(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
