//! JSON: the addresses in its values, and the values that read like text.

use serde_json::Value;

use super::plain::addresses;
use super::{Document, DocumentFormat, LINKS_MAX, TEXT_BYTES_MAX};
use rhumb_page::charset;
use rhumb_page::media::MediaKind;
use rhumb_page::url::Url;

/// Spaces in a value at least for it to read like text.
const SPACES_MIN: usize = 3;

pub(super) struct Json;

impl DocumentFormat for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn claims(&self, kind: MediaKind, essence: &str) -> bool {
        kind == MediaKind::Text && (essence.ends_with("/json") || essence.ends_with("+json"))
    }

    fn read(&self, body: &[u8], charset: Option<&str>, url: &Url) -> Document {
        let text = charset::decode(body, charset.or(Some("utf-8")), None).text;
        let mut document = Document::default();
        match serde_json::from_str::<Value>(&text) {
            Ok(value) => gather(&value, &mut document),
            Err(error) => {
                document.oddities.push(format!("no JSON: {error}"));
                document.links = addresses(&text);
                document.text = text.into_owned();
            }
        }
        document.links.retain(|link| link != url);
        document
    }
}

fn gather(value: &Value, document: &mut Document) {
    match value {
        Value::String(text) => {
            let left = LINKS_MAX.saturating_sub(document.links.len());
            document.links.extend(addresses(text).into_iter().take(left));
            let reads_like_text = text.bytes().filter(|b| *b == b' ').count() >= SPACES_MIN;
            if reads_like_text && document.text.len() + text.len() < TEXT_BYTES_MAX {
                document.text.push_str(text.trim());
                document.text.push('\n');
            }
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, document)),
        Value::Object(members) => {
            if document.title.is_none() {
                let title = members.get("title").or_else(|| members.get("name"));
                document.title = title.and_then(Value::as_str).map(str::to_owned);
            }
            members.values().for_each(|member| gather(member, document));
        }
        _ => (),
    }
}
