const noted = memoryReadGraph({}).entities.filter((entity) => entity.entityType === "count");
output(`${noted.length === 1 ? "Once" : `${noted.length} times`}: ${noted.map((entity) => entity.observations.join(", ")).join("; ")}.`);
done();
