/** The path of a healthcheck of the platform, which follows `/healthchecks/`: one to four segments (CONTRACT 17). */
export const healthcheckPathPattern = /^[a-z0-9-]+(?:\/[a-z0-9-]+){0,3}$/;
