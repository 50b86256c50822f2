//! The membership machine, step by step.

use rhumb_cluster::beat::{Heartbeat, Identity, Timing};
use rhumb_cluster::event::{Command, MemberEvent};
use rhumb_cluster::member::Member;
use rhumb_engine::time::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};

struct Node {
    member: Member,
    now: Time,
}

fn identity(id: &str) -> Identity {
    let (address, version) = (String::new(), String::new());
    Identity { id: id.to_owned(), run: 1, address, version, weight: 1 }
}

fn beat_of(id: &str, counter: u64, owned: &[(u32, u64)]) -> Heartbeat {
    Heartbeat {
        node: identity(id),
        counter,
        owned: owned.iter().copied().collect(),
        released: BTreeMap::new(),
        ready: BTreeSet::new(),
        obeyed: 0,
        is_leaving: false,
        returns_within: None,
    }
}

impl Node {
    /// A node that has joined, and has seen nobody yet.
    fn joined(partitions: u32) -> Node {
        let member = Member::new(identity("own"), partitions, true, Timing::default());
        let mut node = Node { member, now: Time::ZERO + Span::secs(100) };
        node.tell(MemberEvent::Tick);
        node.tell(MemberEvent::Looked { began: node.now, beats: Vec::new() });
        node.tell(MemberEvent::Beaten { counter: 1, began: node.now });
        node
    }

    fn tell(&mut self, event: MemberEvent) -> Vec<Command> {
        let mut commands = Vec::new();
        self.member.step(self.now, event, &mut commands);
        commands
    }

    /// What it opens after a look at these, so much later.
    fn opens_after(&mut self, span: Span, beats: &[Heartbeat]) -> Vec<(u32, u64)> {
        self.now = self.now + span;
        let commands = self.tell(MemberEvent::Looked { began: self.now, beats: beats.to_vec() });
        let opened = commands.into_iter().filter_map(|command| match command {
            Command::Open { partition, known } => Some((partition, known)),
            _ => None,
        });
        opened.collect()
    }
}

#[test]
fn what_another_has_claimed_is_left_alone_while_its_heartbeat_may_come() {
    let mut node = Node::joined(1);
    assert_eq!(node.opens_after(Span::secs(1), &[]), [(0, 0)]);
    node.tell(MemberEvent::Claimed { partition: 0, epoch: 7 });
    assert_eq!(node.opens_after(Span::secs(5), &[]), []);
    assert_eq!(node.opens_after(Span::secs(4), &[]), []);
    // Nobody has named it: whoever claimed it is gone.
    assert_eq!(node.opens_after(Span::secs(2), &[]), [(0, 7)]);
}

#[test]
fn who_could_not_look_gives_nobody_up_for_that() {
    let mut node = Node::joined(2);
    let other = beat_of("other", 1, &[(0, 1), (1, 1)]);
    assert_eq!(node.opens_after(Span::secs(1), std::slice::from_ref(&other)), []);
    node.tell(MemberEvent::LookFailed);
    // The store was away for both. The other's next heart-beat may be on its way.
    assert_eq!(node.opens_after(Span::secs(60), std::slice::from_ref(&other)), []);
    assert_eq!(node.opens_after(Span::secs(3), &[beat_of("other", 2, &[(0, 1), (1, 1)])]), []);
    // Now it is silent, and is looked at.
    for _ in 0..3 {
        assert_eq!(node.opens_after(Span::secs(3), &[beat_of("other", 2, &[(0, 1), (1, 1)])]), []);
    }
    let opened = node.opens_after(Span::secs(3), &[beat_of("other", 2, &[(0, 1), (1, 1)])]);
    assert_eq!(opened, [(0, 1), (1, 1)]);
}
