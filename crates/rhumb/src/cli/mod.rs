//! The command line: one file per verb. A verb turns flags into a call and its answer into text;
//! what it does lives elsewhere.
//!
//! Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 the
//! job failed, 2 wrong usage (one line says what is wrong), 3 a node that the others gave up, 130
//! interrupted and stopped cleanly.

mod bench;
mod bench_hostile;
mod bench_soak;
mod cluster;
mod completions;
mod coverage;
mod crawl;
mod dashboard;
mod dedup;
mod demo;
mod ended;
mod export;
mod extract;
mod forget;
mod get;
mod hands;
mod index;
mod interrupts;
mod json;
mod logging;
mod man;
mod new_files;
mod node;
mod notice;
mod rank;
mod rank_crawl;
mod robots;
mod robots_batch;
mod search;
mod sim;
mod sim_order;
mod sim_order_text;
mod sim_refresh;
mod sim_refresh_cross;
mod sim_refresh_figure;
mod sim_topic;
mod status;
mod topic;
mod urls;
mod wacz;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use rhumb_node::extract::contained;

pub use ended::Ended;

/// A polite, durable web crawler on one deterministic engine.
#[derive(Parser)]
#[command(name = "rhumb", version, max_term_width = 100)]
#[command(after_help = "\
Examples:
  rhumb demo
  rhumb crawl https://example.org/ --max-pages 1000
  rhumb get https://example.org/article
  rhumb status rhumb-crawl
  rhumb urls rhumb-crawl --state gone,failed
  rhumb wacz rhumb-crawl
  rhumb export rhumb-crawl --parquet tables
  rhumb robots --agent mybot --file robots.txt https://example.org/a
  rhumb sim run --seed 7 --faults")]
struct Cli {
    #[command(flatten)]
    log: logging::LoggingFlags,

    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    Crawl(Box<crawl::CrawlVerbFlags>),
    Get(Box<get::GetFlags>),
    Demo(demo::DemoFlags),
    Status(status::StatusFlags),
    Dashboard(dashboard::DashboardFlags),
    Pause(hands::Pause),
    Resume(hands::Resume),
    Stop(hands::StopFlags),
    Seed(hands::SeedFlags),
    Exclude(hands::Exclude),
    Forget(forget::ForgetFlags),
    Rest(hands::Rest),
    FetchNow(hands::FetchNow),
    Urls(urls::UrlsFlags),
    Coverage(coverage::CoverageFlags),
    Dedup(dedup::DedupFlags),
    Extract(extract::ExtractFlags),
    Index(index::IndexFlags),
    Search(search::SearchFlags),
    Export(export::ExportFlags),
    Wacz(wacz::WaczFlags),
    Rank(rank::RankFlags),
    Robots(robots::RobotsFlags),
    Node(node::NodeFlags),
    Cluster(cluster::ClusterFlags),
    Sim(sim::SimFlags),
    Topic(topic::TopicVerbFlags),
    Bench(bench::BenchFlags),
    Completions(completions::CompletionsFlags),
    Man(man::ManFlags),
}

/// Runs what the arguments say, to the end.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return ended::of_parsing(&error),
    };
    let Some(verb) = cli.verb else {
        // Nothing was asked for: not wrong, only not much.
        return ended::exit(Cli::command().print_help().map(|()| Ended::Done).map_err(Into::into));
    };
    cli.log.start();
    if let Ok(program) = std::env::current_exe() {
        contained::read_with(program);
    }
    // Not locked: other threads write there too (`--events -`), and would wait for us for ever.
    let mut out = io::BufWriter::new(io::stdout());
    let result = match verb {
        Verb::Crawl(flags) => crawl::run(*flags, cli.log.quiet, &mut out),
        Verb::Get(flags) => get::run(*flags, cli.log.quiet, &mut out),
        Verb::Demo(flags) => demo::run(&flags, cli.log.quiet, &mut out),
        Verb::Dedup(flags) => dedup::run(flags, cli.log.quiet, &mut out),
        Verb::Dashboard(flags) => dashboard::run(&flags, cli.log.quiet, &mut out),
        Verb::Status(flags) => status::run(&flags, &mut out),
        Verb::Pause(hand) => hands::run(hand, &mut out),
        Verb::Resume(hand) => hands::run(hand, &mut out),
        Verb::Stop(hand) => hands::run(hand, &mut out),
        Verb::Seed(hand) => hands::run(hand, &mut out),
        Verb::Exclude(hand) => hands::run(hand, &mut out),
        Verb::Forget(flags) => forget::run(&flags, &mut out),
        Verb::Rest(hand) => hands::run(hand, &mut out),
        Verb::FetchNow(hand) => hands::run(hand, &mut out),
        Verb::Urls(flags) => urls::run(flags, &mut out),
        Verb::Coverage(flags) => coverage::run(&flags, &mut out),
        Verb::Extract(flags) => extract::run(&flags, &mut out),
        Verb::Index(flags) => index::run(&flags, &mut out),
        Verb::Search(flags) => search::run(&flags, &mut out),
        Verb::Export(flags) => export::run(flags, &mut out),
        Verb::Wacz(flags) => wacz::run(flags, &mut out),
        Verb::Rank(flags) => rank::run(&flags, &mut out),
        Verb::Robots(flags) => robots::run(&flags, &mut out),
        Verb::Node(flags) => node::run(flags, cli.log.quiet, &mut out),
        Verb::Cluster(flags) => cluster::run(flags, &mut out),
        Verb::Sim(flags) => sim::run(&flags, &mut out),
        Verb::Topic(flags) => topic::run(&flags, &mut out),
        Verb::Bench(flags) => bench::run(&flags, cli.log.quiet, &mut out),
        Verb::Completions(flags) => completions::run(&flags, Cli::command(), &mut out),
        Verb::Man(flags) => man::run(&flags, Cli::command(), &mut out),
    };
    // What was not written is said: dropping the buffer would not tell.
    ended::exit(result.and_then(|ended| out.flush().map(|()| ended).map_err(Into::into)))
}
