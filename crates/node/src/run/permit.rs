//! Until when requests of a partition may begin: a crawl on many machines lets an owner ask hosts
//! only as long as nobody else can be its successor.

use super::clock::Clock;
use rhumb_engine::time::Time;
use tokio::sync::watch;

/// What the owner of a partition may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Permission {
    /// Requests may begin before this.
    Until(Time),
    /// The partition has ended here.
    Over,
}

/// Who gives permission, and takes it back. When this is dropped the partition has ended.
pub struct Permitter(watch::Sender<Permission>);

/// Who asks for it.
#[derive(Clone)]
pub struct Permit {
    permission: watch::Receiver<Permission>,
    clock: Clock,
}

/// A permission that is not given yet.
pub fn permission(clock: Clock) -> (Permitter, Permit) {
    let (sender, permission) = watch::channel(Permission::Until(Time::ZERO));
    (Permitter(sender), Permit { permission, clock })
}

impl Permitter {
    pub fn allow(&self, until: Time) {
        self.0.send_replace(Permission::Until(until));
    }

    pub fn pause(&self) {
        self.allow(Time::ZERO);
    }
}

impl Drop for Permitter {
    fn drop(&mut self) {
        self.0.send_replace(Permission::Over);
    }
}

impl Permit {
    /// Whether a request may begin now.
    pub fn is_given(&self) -> bool {
        matches!(*self.permission.borrow(), Permission::Until(until) if self.clock.now() < until)
    }

    /// Waits until a request may begin; false if none ever will.
    pub async fn wait(&self) -> bool {
        let mut permission = self.permission.clone();
        loop {
            match *permission.borrow_and_update() {
                Permission::Over => return false,
                Permission::Until(until) if self.clock.now() < until => return true,
                Permission::Until(_) => {}
            }
            if permission.changed().await.is_err() {
                return false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_engine::time::Span;

    #[test]
    fn who_waits_goes_on_when_it_is_permitted_and_ends_with_the_partition() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let clock = Clock::start();
        let (permitter, permit) = permission(clock.clone());
        assert!(!permit.is_given());
        let waiting = runtime.spawn({
            let permit = permit.clone();
            async move { permit.wait().await }
        });
        permitter.allow(clock.now() + Span::secs(3_600));
        assert!(permit.is_given() && runtime.block_on(waiting).unwrap());
        permitter.pause();
        assert!(!permit.is_given());
        drop(permitter);
        assert!(!runtime.block_on(permit.wait()));
    }
}
