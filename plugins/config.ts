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
    ajv: validator ?? { customOptions: onceAndAsIs },
  }
}

type CustomOptions = Extract<FastifyEnvOptions['ajv'], { customOptions: unknown }>['customOptions']

let validator: ReturnType<CustomOptions> | undefined

/**
 * Values are parsed already, so none is coerced. The schema has words for the documentation that
 * are not JSON Schema's, and checking it against the meta-schema, or compiling it again for every
 * server of one process, would cost more than all the rest of the boot.
 */
const onceAndAsIs: CustomOptions = (ajv) => {
  Object.assign(ajv.opts, { coerceTypes: false, strictSchema: false, validateSchema: false })
  validator = ajv
  return ajv
}

async function config(fastify: FastifyInstance, options: ConfigOptions) {
  await fastify.register(fastifyEnv, createConfigSource(options.config))
}

export default fp(config, { name: 'config', fastify: '5.x' })
