//! What goes over the network between nodes, beside messages.

use crate::mail::Envelope;
use rhumb_cluster::allowance::{Grant, GrantRequest};
use rhumb_cluster::collection::PartitionReport;
use rhumb_engine::mass::Sums;
use rhumb_engine::outbound::Message;
use rhumb_engine::time::Time;
use std::net::IpAddr;
use std::sync::Arc;

/// What is summed, with how far messages had come then: for the watch.
#[derive(Clone, Debug)]
pub struct Summed {
    pub partition: u32,
    pub sums: Sums,
    pub sent: Vec<u64>,
    pub taken: Vec<u64>,
}

/// What an owner tells once it is shipped.
#[derive(Clone, Debug)]
pub enum SimTold {
    /// To the node that asked, at that moment of its own clock.
    Report {
        to: usize,
        asked: Time,
        report: Box<PartitionReport<Summed>>,
    },
    Request(GrantRequest),
    Grant(Grant),
    /// A partition is to give back what it does not need.
    Reclaim(u32),
    /// The orders up to this one are obeyed.
    Obeyed(u64),
}

/// From node to node.
#[derive(Clone, Debug)]
pub enum Packet {
    /// With the message, if it is one.
    Envelope(Envelope, Option<Arc<Message>>),
    Told(SimTold),
    /// Report this partition to whoever adds up.
    Ask {
        from: usize,
        partition: u32,
        asked: Time,
    },
    /// So many slots at an address are wanted, at this moment of the asker's clock.
    WantSlots {
        from: usize,
        address: IpAddr,
        wanted: u16,
        asked: Time,
    },
    Slots {
        address: IpAddr,
        slots: u16,
        asked: Time,
    },
}
