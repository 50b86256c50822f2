//! A commit's writes in the order of their keys, the last of each key only.
//!
//! Neighbours in a memtable are found through the same few nodes, which are then in the
//! processor's cache: inserting in order costs less than inserting as things happened.

use fjall::{Keyspace, OwnedWriteBatch, UserKey, UserValue};

#[derive(Default)]
pub struct Ordered<'a> {
    writes: Vec<Write<'a>>,
}

struct Write<'a> {
    keyspace: &'a Keyspace,
    key: UserKey,
    /// None takes the row away.
    value: Option<UserValue>,
}

impl<'a> Ordered<'a> {
    pub fn with_capacity(rows: usize) -> Ordered<'a> {
        Ordered { writes: Vec::with_capacity(rows) }
    }

    pub fn insert(
        &mut self,
        keyspace: &'a Keyspace,
        key: impl Into<UserKey>,
        value: impl Into<UserValue>,
    ) {
        self.writes.push(Write { keyspace, key: key.into(), value: Some(value.into()) });
    }

    pub fn remove(&mut self, keyspace: &'a Keyspace, key: impl Into<UserKey>) {
        self.writes.push(Write { keyspace, key: key.into(), value: None });
    }

    /// Into a batch of the store, which commits them at once.
    pub fn into_batch(mut self, batch: &mut OwnedWriteBatch) {
        // Stable: among the writes of one key the last one is the one that holds.
        self.writes.sort_by(|a, b| a.place().cmp(&b.place()));
        let mut writes = self.writes.into_iter().peekable();
        while let Some(write) = writes.next() {
            if writes.peek().is_some_and(|next| next.place() == write.place()) {
                continue;
            }
            match write.value {
                Some(value) => batch.insert(write.keyspace, write.key, value),
                None => batch.remove(write.keyspace, write.key),
            }
        }
    }
}

impl Write<'_> {
    fn place(&self) -> (usize, &[u8]) {
        (std::ptr::from_ref(self.keyspace).addr(), &self.key)
    }
}
