//! What web was seen? Hosts as circles, by importance, with lines for the links between them.

use crate::figures::{count, percent};
use crate::page::{Bubble, Curve, PageBlock, encoded};
use crate::tables::of_first;
use rhumb_node::watch::view::{HostLink, WebView};

/// Room that the circles fill, of a picture of 1000 × 700.
const AREA: f64 = 235_000.0;
/// Where a label can be read.
const LABEL_RADIUS_MIN: f64 = 26.0;
const RADIUS_MAX: f64 = 130.0;
const RADIUS_MIN: f64 = 3.5;

pub fn blocks(view: &WebView) -> Vec<PageBlock> {
    let all: f64 = view.hosts.iter().map(|host| host.weight.sqrt()).sum();
    // Areas by the square root of weights: one host of a million pages leaves room for others.
    let radius = |weight: f64| {
        let area = AREA * weight.sqrt() / all.max(f64::MIN_POSITIVE);
        (area / std::f64::consts::PI).sqrt().clamp(RADIUS_MIN, RADIUS_MAX)
    };
    let radii: Vec<f64> = view.hosts.iter().map(|host| radius(host.weight)).collect();
    let places = packed(&radii);
    let circles = view.hosts.iter().zip(&radii).zip(&places).map(|((host, r), (x, y))| {
        let known = (host.pages + host.queued).max(1) as f64;
        let name = host.host.split("://").last().unwrap_or(&host.host);
        let name = name.strip_prefix("www.").unwrap_or(name);
        let name = name.split(':').next().unwrap_or(name);
        let weight = match view.by_importance {
            true => format!("{} of all importance, ", percent(host.weight)),
            false => String::new(),
        };
        let (pages, queued) = (count(host.pages), count(host.queued));
        Bubble {
            title: format!("{}: {weight}{pages} pages, {queued} wait", host.host),
            label: match *r >= LABEL_RADIUS_MIN {
                true => name.chars().take((r / 4.0) as usize).collect(),
                false => String::new(),
            },
            href: format!("/host?key={}", encoded(&host.host)),
            x: format!("{x:.1}"),
            y: format!("{y:.1}"),
            r: format!("{r:.1}"),
            tenth: (10.0 * host.pages as f64 / known).round() as u32,
        }
    });
    let size = match view.by_importance {
        true => "its importance",
        false => "its pages and what waits there",
    };
    let note = format!(
        "A circle is a host: its area grows with the root of {size}, its colour says how many of \
         its URLs are fetched. A line is links from one to another."
    );
    let picture = PageBlock::Bubbles(circles.collect(), lines(&view.lines, &places));
    let mut blocks = vec![picture, PageBlock::Note(note)];
    if view.is_awaited {
        let what = "By pages for now: importance is being reckoned, and shown when that is done.";
        blocks.push(PageBlock::Note(what.to_owned()));
    } else if !view.by_importance {
        let what = "By pages: there are too many URLs, or partitions, to reckon importance here.";
        blocks.push(PageBlock::Note(what.to_owned()));
    }
    blocks.extend(of_first(view.of_first, "hosts"));
    blocks
}

/// Curves between the middles of circles, the stronger the more links.
fn lines(links: &[HostLink], places: &[(f64, f64)]) -> Vec<Curve> {
    let most = links.iter().map(|line| line.links).max().unwrap_or(1).max(1) as f64;
    let curve = |line: &HostLink| {
        let ((x1, y1), (x2, y2)) = (*places.get(line.from)?, *places.get(line.to)?);
        // Bent to one side, so that there and back are two lines.
        let (bend_x, bend_y) =
            ((x1 + x2) / 2.0 + (y1 - y2) / 8.0, (y1 + y2) / 2.0 + (x2 - x1) / 8.0);
        let share = (line.links as f64).ln_1p() / most.ln_1p().max(f64::MIN_POSITIVE);
        Some(Curve {
            path: format!("M{x1:.1} {y1:.1}Q{bend_x:.1} {bend_y:.1} {x2:.1} {y2:.1}"),
            strength: (1.0 + 3.0 * share).round() as u32,
        })
    };
    links.iter().filter_map(curve).collect()
}

/// Places for circles without overlap: each, the greatest first, at the first free place of a
/// spiral from the middle.
fn packed(radii: &[f64]) -> Vec<(f64, f64)> {
    const TURNS_MAX: usize = 20_000;
    let mut placed: Vec<(f64, f64, f64)> = Vec::new();
    for r in radii {
        let mut place = (0.0, 0.0);
        for step in 0..TURNS_MAX {
            let angle = step as f64 * 0.25;
            let out = 0.9 * angle;
            // The picture is wider than high.
            place = (1.35 * out * angle.cos(), out * angle.sin());
            let is_free = placed
                .iter()
                .all(|(x, y, other)| (x - place.0).hypot(y - place.1) >= r + other + 2.0);
            if is_free {
                break;
            }
        }
        placed.push((place.0, place.1, *r));
    }
    placed.into_iter().map(|(x, y, _)| (x, y)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bubbles_do_not_overlap() {
        let radii: Vec<f64> = (0..60).map(|n| 60.0 / f64::from(n + 1).sqrt()).collect();
        let places = packed(&radii);
        for a in 0..radii.len() {
            for b in 0..a {
                let apart = (places[a].0 - places[b].0).hypot(places[a].1 - places[b].1);
                assert!(apart + 1e-9 >= radii[a] + radii[b], "{a} and {b}");
            }
        }
    }
}
