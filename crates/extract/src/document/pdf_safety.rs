//! What a PDF must not contain before it is handed to a reader that follows references blindly.
//!
//! The reader climbs from a page to its parents, and descends into forms that draw forms, without
//! counting. A file that is its own parent, or a form that draws itself, would exhaust the stack,
//! which nothing can catch. Both are looked for here, with limits far above what honest files have.

use pdf_extract::{Dictionary, Document, Object, ObjectId};

/// Parents of a page.
const PARENTS_MAX: usize = 32;
/// Forms within forms.
const FORMS_DEPTH_MAX: usize = 12;
/// Forms looked at in one page.
const FORMS_MAX: usize = 2_000;

/// Why a page must not be read, if so.
pub(super) fn danger_of(document: &Document, page: ObjectId) -> Option<&'static str> {
    let mut dictionary = document.get_dictionary(page).ok()?;
    let mut left = FORMS_MAX;
    for _ in 0..PARENTS_MAX {
        if let Some(resources) = resolved(document, dictionary, b"Resources")
            && !forms_end(document, resources, FORMS_DEPTH_MAX, &mut left)
        {
            return Some("forms that draw forms without end");
        }
        let parent = dictionary.get(b"Parent").and_then(Object::as_reference);
        let Ok(parent) = parent.and_then(|id| document.get_dictionary(id)) else { return None };
        dictionary = parent;
    }
    Some("a page tree without a root")
}

/// Whether all forms in some resources end within `depth`.
fn forms_end(document: &Document, resources: &Dictionary, depth: usize, left: &mut usize) -> bool {
    let Some(objects) = resolved(document, resources, b"XObject") else { return true };
    for (_, object) in objects.iter() {
        if *left == 0 || depth == 0 {
            return false;
        }
        *left -= 1;
        let object = document.dereference(object).map(|(_, object)| object);
        let Ok(Object::Stream(form)) = object else { continue };
        let inner = resolved(document, &form.dict, b"Resources");
        if inner.is_some_and(|inner| !forms_end(document, inner, depth - 1, left)) {
            return false;
        }
    }
    true
}

/// A dictionary's entry that is a dictionary, or a reference to one.
pub(super) fn resolved<'d>(
    document: &'d Document,
    dictionary: &'d Dictionary,
    key: &[u8],
) -> Option<&'d Dictionary> {
    let object = dictionary.get(key).ok()?;
    document.dereference(object).ok()?.1.as_dict().ok()
}
