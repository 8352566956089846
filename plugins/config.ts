/**
 * The configuration as `fastify.config`: read and checked once by the starter, before anything is opened.
 * @fastify/env holds it against the schema once more, so that a server built by other means
 * than the starter (a test, a script) gets the same defaults and the same refusals.
 */
import fastifyEnv, { type FastifyEnvOptions } from '@fastify/env'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import { type Config, configSchema } from '../schemas/config/config.ts'

declare module 'fastify' {
  interface FastifyInstance {
    config: Config
  }
}

export interface ConfigOptions {
  config: Config
}

/** What @fastify/env needs to take a configuration that is parsed already, and nothing else. */
function createConfigSource(config: Config) {
  return {
    confKey: 'config',
    schema: configSchema,
    data: config,
    env: false,
    ajv: { customOptions: withOurKeywords },
  }
}

type CustomOptions = Extract<FastifyEnvOptions['ajv'], { customOptions: unknown }>['customOptions']

/** The validator refuses words it does not know, and the schema has some for the documentation. */
const withOurKeywords: CustomOptions = (ajv) => {
  const words = Object.values(configSchema.properties).flatMap((schema) => Object.keys(schema))
  return ajv.addVocabulary([...new Set(words.filter((word) => word.startsWith('x-')))])
}

async function config(fastify: FastifyInstance, options: ConfigOptions) {
  await fastify.register(fastifyEnv, createConfigSource(options.config))
}

export default fp(config, { name: 'config', fastify: '5.x' })
