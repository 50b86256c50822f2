//! What sites ask of crawlers, in robots.txt and in their pages.

use crate::scripted::{Scripted, answer, html, not_found};

#[test]
fn a_rule_is_obeyed_however_it_and_the_link_spell_the_path() {
    let site = Scripted::serve(|asked| match asked.path.as_str() {
        "/robots.txt" => answer(
            "200 OK",
            &[("Content-Type", "text/plain")],
            "User-agent: *\nDisallow: /%7Ejoe/\nDisallow: /%61nna\nDisallow: /my files/\n",
        ),
        "/" => html(
            "<a href='/~joe/a'>1</a><a href='/%7Ejoe/b'>2</a><a href='/%7ejoe/c'>3</a>\
             <a href='/anna'>4</a><a href='/my files/1'>5</a><a href='/~jim/'>6</a>",
        ),
        "/~jim/" => html("<p>Jim</p>"),
        _ => not_found(),
    });
    let report = site.crawl(&[]);
    assert_eq!(site.asked(), ["/", "/~jim/"]);
    assert_eq!(report["robots_denied"], 5, "{report}");
}
