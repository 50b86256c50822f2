//! The headings of a page, from its Markdown.

/// Headings of a page that are kept, and bytes of each.
const HEADINGS_MAX: usize = 64;
const HEADING_BYTES_MAX: usize = 256;

/// The headings of a Markdown text, without their signs.
pub fn headings(markdown: &str) -> Vec<String> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in markdown.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        let level = line.len() - heading.len();
        if !is_code && (1..=6).contains(&level) && heading.starts_with(' ') {
            let heading = heading.trim();
            let end = heading.floor_char_boundary(HEADING_BYTES_MAX);
            found.push(heading[..end].to_owned());
        }
        if found.len() >= HEADINGS_MAX {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_signs_are_headings_and_code_is_not() {
        let markdown = "# Tides\n\ntext # no\n\n```\n# code\n```\n\n### Spring\n#none";
        assert_eq!(headings(markdown), ["Tides", "Spring"]);
    }
}
