/** The configuration as `fastify.config`: read by @fastify/env before anything is opened (read-environment.ts). */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Config } from './config.ts'

declare module 'fastify' {
  interface FastifyInstance {
    config: Config
  }
}

async function config(fastify: FastifyInstance, options: { config: Config }) {
  fastify.decorate('config', options.config)
}

export default fp(config, { name: 'config', fastify: '5.x' })
