//! What workers hold until the engine says how to keep it. Bodies never enter the engine.

use crate::extract::MadeRow;
use rhumb_archive::Packed;
use rhumb_engine::event::FetchId;
use rhumb_engine::marks::Marks;
use rhumb_engine::time::Time;
use rhumb_fetch::Response;
use rhumb_page::url::Url;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use tokio::sync::OwnedSemaphorePermit;

#[derive(Default)]
pub struct HeldBodies {
    held: Mutex<HashMap<FetchId, Held>>,
    /// Leave to be large, given back with the capture.
    turns: Mutex<HashMap<FetchId, OwnedSemaphorePermit>>,
}

/// A capture, with its records packed already if it will most likely be kept as a response.
pub struct Held {
    pub url: Url,
    pub at: Time,
    pub bytes: Bytes,
    pub packed: Option<Packed>,
    pub depth: u16,
    /// What it was fetched for, if that is no page.
    pub resource_type: Option<&'static str>,
    /// What the page asks for.
    pub marks: Marks,
    /// What it says, if that is to be written.
    pub row: Option<MadeRow>,
}

pub enum Bytes {
    Response(Box<Response>),
    /// What came was no HTTP.
    Strange {
        request: Vec<u8>,
        response: Vec<u8>,
        address: Option<IpAddr>,
    },
}

impl HeldBodies {
    pub fn hold(&self, fetch: FetchId, held: Held) {
        self.lock().insert(fetch, held);
    }

    /// A large body takes its turn until it is kept.
    pub fn occupy(&self, fetch: FetchId, turn: Option<OwnedSemaphorePermit>) {
        if let Some(turn) = turn {
            self.turns.lock().unwrap_or_else(PoisonError::into_inner).insert(fetch, turn);
        }
    }

    pub fn take(&self, fetch: FetchId) -> Option<Held> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).remove(&fetch);
        self.lock().remove(&fetch)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<FetchId, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
