// What scripts/intl-data.mjs has packed; the script before this one has left it.
export const { locales, zoneGroups, zoneNames, zoneRules, zoneLinks, pluralRules } = roots.intl;
delete roots.intl;
