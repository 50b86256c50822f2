//! Two operators of PDF that the reader behind us passes over, written as ones that it knows.
//!
//! `'` begins a new line and shows a text on it; `"` sets the spacing of words and characters
//! before (PDF 1.7, section 9.4.3). Some programs write every line but the first of a paragraph so.

use memchr::memchr2;
use pdf_extract::content::{Content, Operation};
use pdf_extract::{Document, Object, ObjectId};

/// Rewrites a page that uses them; any other is left as it is. Forms that a page draws are not
/// looked into.
pub(super) fn expand_lines(file: &mut Document, page: ObjectId) {
    let Ok(bytes) = file.get_page_content(page) else { return };
    if memchr2(b'\'', b'"', &bytes).is_none() {
        return;
    }
    let Ok(content) = Content::decode(&bytes) else { return };
    if !content.operations.iter().any(is_line) {
        return;
    }
    // Images within the content say nothing, and need not survive being written again.
    let kept = content.operations.into_iter().filter(|operation| operation.operator != "BI");
    let operations: Vec<Operation> = kept.flat_map(expanded).collect();
    if let Ok(bytes) = (Content { operations }).encode() {
        // A page without contents has none to change.
        let _ = file.change_page_content(page, bytes);
    }
}

fn is_line(operation: &Operation) -> bool {
    matches!(operation.operator.as_str(), "'" | "\"")
}

fn expanded(operation: Operation) -> Vec<Operation> {
    let operator = |name: &str, operands: Vec<Object>| Operation::new(name, operands);
    let Operation { operator: name, mut operands } = operation;
    match (name.as_str(), operands.len()) {
        ("'", 1) => vec![operator("T*", Vec::new()), operator("Tj", operands)],
        ("\"", 3) => {
            let text = operands.split_off(2);
            let characters = operands.split_off(1);
            vec![
                operator("Tw", operands),
                operator("Tc", characters),
                operator("T*", Vec::new()),
                operator("Tj", text),
            ]
        }
        _ => vec![operator(&name, operands)],
    }
}
