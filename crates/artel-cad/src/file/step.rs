//! STEP as text: what the kernel's writer puts in that changes from run to run, and the names of parts in a file.

use std::collections::BTreeMap;

/// The word that starts the place of a part in an assembly; its number counts up over the life of the writer.
const USAGE: &str = "NEXT_ASSEMBLY_USAGE_OCCURRENCE('";

/// Replaces the time in the file's header and numbers the parts from one, so that the same solids give the same bytes.
pub fn reproducible(text: &str) -> String {
    let mut parts = text.split(USAGE);
    let mut numbered = parts.next().unwrap_or_default().to_owned();
    for (index, part) in parts.enumerate() {
        let rest = part.find('\'').map_or(part, |end| &part[end..]);
        numbered.push_str(&format!("{USAGE}{}{rest}", index + 1));
    }
    without_time(&numbered)
}

fn without_time(text: &str) -> String {
    let Some(start) = text.find("FILE_NAME(") else { return text.to_owned() };
    let Some(end) = text[start..].find(");").map(|length| start + length) else { return text.to_owned() };
    let header = &text[start..end];
    // The second text of the entry is the time.
    let Some((from, to)) = second_text(header) else { return text.to_owned() };
    format!("{}1970-01-01T00:00:00{}", &text[..start + from], &text[start + to..])
}

/// Returns where the second quoted text is, without its quotes.
fn second_text(header: &str) -> Option<(usize, usize)> {
    let quotes: Vec<usize> = header.match_indices('\'').map(|(index, _)| index).collect();
    match quotes[..] {
        [_, _, third, fourth, ..] => Some((third + 1, fourth)),
        _ => None,
    }
}

/// Returns the names of the products that have a solid of their own, in the order of those solids.
pub fn part_names(text: &str) -> Vec<String> {
    let entities: BTreeMap<u64, &str> = entities(text).collect();
    let mut names = BTreeMap::new();
    for (id, entity) in &entities {
        if !entity.starts_with("SHAPE_DEFINITION_REPRESENTATION") {
            continue;
        }
        let [definition, representation] = references(entity)[..] else { continue };
        let solids = solids_of(&entities, representation);
        let name = product_name(&entities, definition);
        if let (Some(first), Some(name)) = (solids.first(), name) {
            names.insert((*first, *id), (name, solids.len()));
        }
    }
    names.into_values().flat_map(|(name, count)| std::iter::repeat_n(name, count)).collect()
}

/// Returns the entities of the data section as their number and text.
fn entities(text: &str) -> impl Iterator<Item = (u64, &str)> {
    text.split(";\n").filter_map(|statement| {
        let (number, entity) = statement.trim().strip_prefix('#')?.split_once('=')?;
        Some((number.trim().parse().ok()?, entity.trim()))
    })
}

fn references(entity: &str) -> Vec<u64> {
    let is_digit = |c: char| c.is_ascii_digit();
    entity
        .split('#')
        .skip(1)
        .filter_map(|rest| rest[..rest.find(|c| !is_digit(c)).unwrap_or(rest.len())].parse().ok())
        .collect()
}

fn solids_of(entities: &BTreeMap<u64, &str>, representation: u64) -> Vec<u64> {
    let Some(entity) = entities.get(&representation) else { return Vec::new() };
    let is_solid =
        |id: &u64| entities.get(id).is_some_and(|entity| entity.starts_with("MANIFOLD_SOLID_BREP"));
    references(entity).into_iter().filter(is_solid).collect()
}

/// Follows a definition down to its product; the way is short and of a known form.
fn product_name(entities: &BTreeMap<u64, &str>, definition: u64) -> Option<String> {
    let mut id = definition;
    for _ in 0..6 {
        let entity = entities.get(&id)?;
        if let Some(rest) = entity.strip_prefix("PRODUCT(") {
            let text = rest
                .split('\'')
                .nth(3)
                .filter(|name| !name.is_empty())
                .or_else(|| rest.split('\'').nth(1))?;
            return Some(text.to_owned());
        }
        id = *references(entity).first()?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_time_is_replaced() {
        let text = "FILE_NAME('part','2026-11-18T01:02:03',('a'),('b'),'c','d','e');\nX";
        assert_eq!(without_time(text), "FILE_NAME('part','1970-01-01T00:00:00',('a'),('b'),'c','d','e');\nX");
        assert_eq!(without_time("no header"), "no header");
    }

    #[test]
    fn parts_are_numbered_from_one() {
        let text = format!("#1 = {USAGE}7','a','',#5,#27,$);\n#2 = {USAGE}8','b','',#5,#28,$);\n");
        let expected = format!("#1 = {USAGE}1','a','',#5,#27,$);\n#2 = {USAGE}2','b','',#5,#28,$);\n");
        assert_eq!(reproducible(&text), expected);
    }

    #[test]
    fn names_are_found_through_the_definitions() {
        let text = "DATA;\n#1 = SHAPE_DEFINITION_REPRESENTATION(#2,#5);\n#2 = PRODUCT_DEFINITION_SHAPE('','',#3);\n\
                    #3 = PRODUCT_DEFINITION('design','',#4,#9);\n#4 = PRODUCT_DEFINITION_FORMATION('','',#7);\n\
                    #5 = ADVANCED_BREP_SHAPE_REPRESENTATION('',(#6,#8),#9);\n#6 = MANIFOLD_SOLID_BREP('',#10);\n\
                    #7 = PRODUCT('lid','lid','',(#9));\n#8 = AXIS2_PLACEMENT_3D('',#9);\n";
        assert_eq!(part_names(text), ["lid"]);
    }
}
