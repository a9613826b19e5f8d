import { createHash } from "node:crypto";
import type { FastifyPluginAsync } from "fastify";

/** The origin in the devnet's specs. Nobody can own it: `.example` is reserved for examples. */
export const WEATHER_ORIGIN = "https://api.weather.example";

const SKIES = ["clear", "light clouds", "overcast", "light rain", "heavy rain", "fog"] as const;

/**
 * A simulated API for the Web Oracle's examples, in a made-up format. The weather of a city never changes, so that all
 * providers read the same.
 */
export const weatherApi: FastifyPluginAsync = async (app) => {
  app.get<{ Querystring: { city?: string } }>("/now", (request, reply) => {
    const { city } = request.query;
    if (!city) return reply.send({ error: "no city" });
    const [sky = 0, degrees = 0, hundredths = 0] = createHash("sha256").update(city).digest();
    const name = SKIES[sky % SKIES.length] as string;
    return reply.send({
      city,
      air: { kelvin: `${265 + (degrees % 40)}.${String(hundredths % 100).padStart(2, "0")}` },
      sky: name,
      raining: name.endsWith("rain"),
    });
  });
  app.post<{ Body: { archive?: string; number?: string } }>("/documents/find", (request, reply) => {
    const { archive, number } = request.body;
    if (archive !== "storms") return reply.send({ error: "no such archive" });
    const sha256 = createHash("sha256").update(`${archive} ${number}`).digest("hex");
    return reply.send({ document: { number, sha256: `0x${sha256}` } });
  });
};
