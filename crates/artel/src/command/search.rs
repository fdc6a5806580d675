//! `artel skill search`.

use artel_catalog::search::{Query, QueryExtent, TermMatch};
use artel_catalog::{Keep, SearchResult, one_line};
use serde_json::{Value, json};

use super::context::Context;
use super::list::summary;
use crate::cli::SearchArgs;
use crate::failure::Failure;
use crate::output::{Table, Tone};

pub(crate) fn run(context: Context<'_>, args: &SearchArgs) -> Result<(), Failure> {
    let query = Query::new(&args.words.join(" "));
    if query.is_empty() {
        return Err(Failure::usage("there is no word to search for").hint("search for letters or digits"));
    }
    let catalog = context.catalog(Keep::Instructions)?;
    let (results, total) = catalog.search(&query, args.limit);
    if query.extent() != QueryExtent::Whole {
        context.output.talk("the search is very long; only its beginning was used");
    }
    if context.output.json {
        let skills: Vec<Value> = results
            .iter()
            .filter_map(|result| {
                let mut skill = summary(&catalog, result.entry)?;
                skill["score"] = json!(rounded(result.hit.score));
                skill["explanation"] = result.hit.explanation.iter().map(term).collect();
                Some(skill)
            })
            .collect();
        context.output.document(&json!({"skills": skills, "total": total}));
        return Ok(());
    }
    context.output.data(&table(context, &results, args.explain));
    match total {
        0 => context.output.talk("no skill matches; try fewer or other words"),
        _ if total > results.len() => context.output.talk(&format!("{} of {total} skills", results.len())),
        _ => {}
    }
    Ok(())
}

fn table(context: Context<'_>, results: &[SearchResult<'_>], explain: bool) -> String {
    let mut table = Table::new(&[Tone::Faint, Tone::Strong, Tone::Plain]);
    for result in results {
        let Some(skill) = result.entry.skill.as_deref() else { continue };
        table.row([format!("{:.2}", result.hit.score), skill.name.to_string(), one_line(&skill.description)]);
        if explain {
            for found in &result.hit.explanation {
                let fields: Vec<String> = found.fields.iter().map(|field| field.to_string()).collect();
                let place = fields.join(", ");
                let text = format!("{} = {} ({}) in {place}", found.word, found.term, found.kind);
                table.row(["".to_owned(), format!("+{:.2}", found.contribution), text]);
            }
        }
    }
    table.render(context.output)
}

fn term(found: &TermMatch) -> Value {
    json!({
        "word": found.word,
        "term": found.term,
        "match": found.kind.to_string(),
        "fields": found.fields.iter().map(|field| field.to_string()).collect::<Vec<_>>(),
        "contribution": rounded(found.contribution),
    })
}

fn rounded(score: f32) -> f64 {
    (f64::from(score) * 1000.0).round() / 1000.0
}
