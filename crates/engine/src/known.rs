//! Links to URLs that are known already: their numbers, and their addresses in one piece of memory.
//!
//! Most links of most pages are such. An address of its own for each would be allocated where pages
//! are read and freed by the loop, which needs next to none of them.

use rhumb_page::url::Url;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownLinks {
    ids: Vec<u32>,
    /// Links from a seed to these. (To a sitemap that a sitemap names it is one less; no order that
    /// moves URLs up looks at it.)
    depth: u16,
    /// Their addresses, one after the other, and where each ends; empty if nobody wants them.
    text: String,
    ends: Vec<u32>,
    /// In a crawl with a topic: how likely each leads there, in fifteenths.
    weights: Vec<u8>,
}

impl KnownLinks {
    pub fn new(depth: u16) -> KnownLinks {
        KnownLinks { depth, ..KnownLinks::default() }
    }

    /// None yet, with room for so many.
    pub fn with_room(depth: u16, links: usize) -> KnownLinks {
        KnownLinks { ids: Vec::with_capacity(links), ..KnownLinks::new(depth) }
    }

    /// Adds a link; all with their address or none.
    pub fn push(&mut self, id: u32, url: Option<&Url>) {
        self.ids.push(id);
        if let Some(url) = url {
            self.add_address(url.as_str());
        }
    }

    /// Says of the link that was added last how likely it leads to the topic. All links or none.
    pub fn weigh(&mut self, weight: u8) {
        self.weights.push(weight);
    }

    /// Numbers with their weights; nought in a crawl without a topic.
    pub fn weighted(&self) -> impl Iterator<Item = (u32, u8)> {
        let weights = self.weights.iter().copied().chain(std::iter::repeat(0));
        self.ids.iter().copied().zip(weights)
    }

    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    pub fn depth(&self) -> u16 {
        self.depth
    }

    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Numbers with their addresses, if addresses are kept.
    pub fn addressed(&self) -> impl Iterator<Item = (u32, &str)> {
        let mut from = 0;
        self.ids.iter().zip(&self.ends).map(move |(id, &end)| {
            let text = &self.text[from..end as usize];
            from = end as usize;
            (*id, text)
        })
    }

    /// The same in pieces of at most `len_max`.
    pub fn pieces(self, len_max: usize) -> Vec<KnownLinks> {
        if self.is_empty() {
            return Vec::new();
        }
        if self.len() <= len_max {
            return vec![self];
        }
        let mut addresses = self.addressed().map(|(_, text)| text);
        let mut weights = self.weights.iter().copied();
        let pieces = self.ids.chunks(len_max).map(|ids| {
            let mut piece = KnownLinks { ids: ids.to_vec(), ..KnownLinks::new(self.depth) };
            piece.weights.extend(weights.by_ref().take(ids.len()));
            addresses.by_ref().take(ids.len()).for_each(|text| piece.add_address(text));
            piece
        });
        pieces.collect()
    }

    /// The same by number alone: what is sent on if nobody wants the addresses.
    pub fn without_addresses(&mut self) {
        (self.text, self.ends) = (String::new(), Vec::new());
    }

    /// A page has some hundred thousand links of some thousand bytes at most: ends fit.
    fn add_address(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_the_same_links_with_the_same_addresses_in_order() {
        for with_addresses in [true, false] {
            let mut links = KnownLinks::new(3);
            for id in 0..10 {
                let url = Url::parse(&format!("http://h.test/{}", 10_u32.pow(id))).unwrap();
                links.push(id, with_addresses.then_some(&url));
                links.weigh(id as u8);
            }
            let pieces = links.clone().pieces(4);
            assert_eq!(pieces.iter().map(KnownLinks::len).collect::<Vec<_>>(), [4, 4, 2]);
            assert!(pieces.iter().all(|piece| piece.depth() == 3));
            let ids: Vec<u32> = pieces.iter().flat_map(|piece| piece.ids()).copied().collect();
            assert_eq!(ids, links.ids());
            let weighted: Vec<(u32, u8)> = pieces.iter().flat_map(|p| p.weighted()).collect();
            assert_eq!(weighted, links.weighted().collect::<Vec<_>>());
            let addressed: Vec<(u32, &str)> = pieces.iter().flat_map(|p| p.addressed()).collect();
            assert_eq!(addressed, links.addressed().collect::<Vec<_>>());
            assert_eq!(addressed.len(), if with_addresses { 10 } else { 0 });
        }
        assert!(KnownLinks::new(0).pieces(4).is_empty());
    }
}
