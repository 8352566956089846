/** `fastify.config`: the configuration that the entry point has read, validated by @fastify/env. */
import fastifyEnv from '@fastify/env'
import { Ajv } from 'ajv'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Config } from '../config/groups/index.ts'
import { validationSchema } from '../config/validation-schema.ts'

declare module 'fastify' {
  interface FastifyInstance {
    config: Config
    examine: Examine | undefined
  }
}

/** The checks of `npm run doctor`; undefined for a server built without them. */
export type Examine = (config: Config) => Promise<Report>

interface Report {
  passed: number
  warnings: number
  failed: number
  results: { check: string; level: 'pass' | 'warn' | 'fail'; sentence: string }[]
}

interface Values {
  config: Config
  examine?: Examine | undefined
}

/**
 * Values are already parsed and have their defaults: nothing is coerced. The schemas have custom keywords (`x-type`).
 * All servers of a process share one instance, which compiles a schema once.
 */
const ajv = new Ajv({ allErrors: true, strict: false, validateSchema: false })

/** The server owns the object and changes settings in place (plugins/security/runtime-settings). */
async function config(fastify: FastifyInstance, options: Values) {
  const set = Object.entries(options.config).filter(([, value]) => value !== undefined)
  await fastify.register(fastifyEnv, {
    schema: validationSchema(options.config),
    data: Object.fromEntries(set),
    env: false,
    ajv,
  })
  fastify.decorate('examine', options.examine)
}

export default fp(config, { name: 'config', fastify: '5.x' })
