/** The cost of schemas: compiled per process, run per response. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import type { RouteOptions } from 'fastify'
import pino from 'pino'

import { everyFeature, listSwitches } from '../../config/every-feature.ts'
import { compileSerializer, compileValidator } from '../../plugins/http/schema-compilers.ts'
import { Session } from '../../schemas/session.ts'
import { User } from '../../schemas/user.ts'
import { PartialVerification } from '../../schemas/verify.ts'
import { buildApp } from '../../server/app.ts'
import { testConfig } from '../support/config.ts'

/** Responses with one of two bodies that `type` cannot distinguish. */
const wholeResponses: Record<string, unknown[]> = {
  'POST /signup 200': [Session, User],
  'POST /verify 200': [Session, PartialVerification],
}

const states = {
  'every feature on': everyFeature(),
  'every feature off': Object.fromEntries(listSwitches().map((name) => [name, 'false'])),
}

for (const [state, features] of Object.entries(states)) describeSchemas(state, features)

function describeSchemas(state: string, features: Record<string, string>) {
  suite(`route schemas with ${state}`, () => {
    let routes: RouteOptions[]
    before(async () => {
      routes = await registeredRoutes(features)
    })

    test('contain no anyOf in responses, which the serializer would have to validate', () => {
      const responses = routes.flatMap(listResponses)
      for (const { name, schema } of responses) {
        const whole = wholeResponses[name]
        if (whole) assert.deepEqual(Object(schema).anyOf, whole, name)
        for (const part of whole ?? [schema]) assert.deepEqual(choicesIn(part, name), [])
      }
      const names = responses.map(({ name }) => name)
      for (const name of ['GET /user 200', 'GET /user 4xx', ...Object.keys(wholeResponses)]) {
        assert.ok(names.includes(name), name)
      }
    })

    test('are shared by all servers of a process, so that each is compiled once', async () => {
      const others = new Set(
        (await registeredRoutes(features)).flatMap(listSchemas).map(({ schema }) => schema),
      )
      const own = routes.flatMap(listSchemas)
      assert.deepEqual(
        own.filter(({ schema }) => !others.has(schema)).map(({ name }) => name),
        [],
      )
      assert.ok(own.some(({ name }) => name === 'PUT /user body'))
    })

    test('can all be compiled', () => {
      for (const { method, url, schema } of routes) {
        const route = { method: String(method), url }
        for (const part of Object.values(getParts(schema))) {
          compileValidator({ ...route, schema: part })
        }
        for (const response of Object.values(Object(schema?.response))) {
          compileSerializer({ ...route, schema: response })
        }
      }
    })
  })
}

/** Of a server that is built and not started, without a database. */
async function registeredRoutes(features: Record<string, string>): Promise<RouteOptions[]> {
  const app = await buildApp({
    config: testConfig(features, false),
    log: pino({ level: 'silent' }),
  })
  await app.close()
  return app.openapi.routes
}

function listResponses({ method, url, schema }: RouteOptions) {
  return Object.entries(Object(schema?.response)).map(([status, response]) => ({
    name: `${method} ${url} ${status}`,
    schema: response,
  }))
}

function listSchemas(route: RouteOptions) {
  const { method, url, schema } = route
  const requested = Object.entries(getParts(schema)).map(([part, checked]) => ({
    name: `${method} ${url} ${part}`,
    schema: checked,
  }))
  return [...requested, ...listResponses(route)]
}

/** What of a request has a schema. */
function getParts(schema: RouteOptions['schema']): Record<string, unknown> {
  const { body, params, querystring, headers } = { ...schema }
  const parts = Object.entries({ body, params, querystring, headers })
  return Object.fromEntries(parts.filter(([, part]) => part !== undefined))
}

/** Paths in a schema where the serializer would try alternatives. */
function choicesIn(node: unknown, path: string): string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) => {
    const inner = `${path}/${key}`
    return /^(anyOf|oneOf|if)$/.test(key) ? [inner] : choicesIn(value, inner)
  })
}
