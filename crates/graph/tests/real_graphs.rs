//! The real graphs of the given data: sizes, bytes a link, and ranks as others computed them.

use std::path::PathBuf;

use rhumb_graph::rank::{Jump, pagerank};
use rhumb_graph::{LinkFileFormat, PageNumber, read};

const D: f64 = 0.85;

fn graph(name: &str) -> Option<PathBuf> {
    rhumb_given::data(&format!("graphs/{name}"))
}

#[test]
fn real_graphs_take_at_most_two_bytes_a_link_also_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    for (name, pages, links, in_most) in [
        ("cnr-2000.wg1.zst", 325_557, 3_128_710, (205_124, 18_234)),
        ("web-NotreDame.wg1.zst", 325_729, 1_469_679, (12_129, 10_721)),
    ] {
        let Some(path) = graph(name) else { return };
        let file = dir.path().join(name);
        let loaded = read(&path, 0, Some(&file)).unwrap();
        let graph = loaded.graph;
        assert_eq!(
            (loaded.format, graph.pages(), graph.links()),
            (LinkFileFormat::Wg1, pages, links)
        );
        let bytes = std::fs::metadata(&file).unwrap().len();
        assert!(bytes <= 2 * links, "{name}: {bytes} bytes for {links} links");
        assert!(graph.bytes() as u64 <= bytes);
        let degrees = graph.in_degrees();
        let most = (0..).zip(&degrees).max_by_key(|(page, n)| (**n, -i64::from(*page)));
        assert_eq!(most, Some((in_most.0 as PageNumber, &in_most.1)));
        let again = read(&file, 0, None).unwrap();
        assert_eq!(again.format, LinkFileFormat::Rlg);
        assert!((0..pages).all(|page| graph.links_of(page).eq(again.graph.links_of(page))));
    }
}

#[test]
fn personalised_ranks_agree_with_those_computed_elsewhere() {
    for (name, trust, top) in [
        (
            "cnr-2000.wg1.zst",
            221_145,
            [(221_145, 0.164_241_614), (223_349, 0.029_888_17), (223_353, 0.029_881_343)],
        ),
        (
            "web-NotreDame.wg1.zst",
            0,
            [(0, 0.270_947_24), (238, 0.024_201_318), (16, 0.021_298_733)],
        ),
    ] {
        let Some(path) = graph(name) else { return };
        let graph = read(&path, 0, None).unwrap().graph;
        let ranks = pagerank(&graph, D, Jump::To(&[(trust, 1.0)]), 1e-12);
        assert!(ranks.error <= 1e-12);
        for (page, value) in top {
            let found = ranks.values[page as usize];
            assert!((found - value).abs() < 1e-9, "{name}: page {page}: {found} not {value}");
        }
    }
}

#[test]
fn a_list_of_links_with_a_heading_and_numbers_from_1_is_read_with_its_urls() {
    let Some(path) = graph("hollins.dat") else { return };
    let loaded = read(&path, 1, None).unwrap();
    assert_eq!((loaded.format, loaded.graph.pages()), (LinkFileFormat::Edges, 6012));
    let left_out = loaded.left_out.self_links + loaded.left_out.repeated;
    assert_eq!(loaded.graph.links() + left_out, 23_875);
    let Some(path) = graph("hollins-urls.dat") else { return };
    let mut urls = rhumb_graph::source::open(&path).unwrap();
    let urls = rhumb_graph::edges::read_urls(&mut *urls, 1).unwrap();
    assert_eq!((urls.len(), urls[1].as_str()), (6012, "http://www.hollins.edu/"));
}
