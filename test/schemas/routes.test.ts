/** What a schema costs: to compile, for every server of a process, and to run, at every answer. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import type { RouteOptions } from 'fastify'
import pino from 'pino'

import { buildApp } from '../../app.ts'
import { compileSerializer, compileValidator } from '../../plugins/schema-compilers.ts'
import { Session } from '../../schemas/session.ts'
import { User } from '../../schemas/user.ts'
import { HalfDone } from '../../schemas/verify.ts'
import { configOf } from '../support/config.ts'

/** Answers that are one of two bodies, which no `type` can tell apart. */
const wholeAnswers: Record<string, unknown[]> = {
  'POST /signup 200': [Session, User],
  'POST /verify 200': [Session, HalfDone],
}

suite('the schemas of the routes', () => {
  let routes: RouteOptions[]
  before(async () => {
    routes = await registeredRoutes()
  })

  test('answers hold no anyOf, for which a validator would run at every one of them', () => {
    const answers = routes.flatMap(answersOf)
    for (const { name, schema } of answers) {
      const whole = wholeAnswers[name]
      if (whole) assert.deepEqual(Object(schema).anyOf, whole, name)
      for (const part of whole ?? [schema]) assert.deepEqual(choicesIn(part, name), [])
    }
    const names = answers.map(({ name }) => name)
    for (const name of ['GET /user 200', 'GET /user 4xx', ...Object.keys(wholeAnswers)]) {
      assert.ok(names.includes(name), name)
    }
  })

  test('are the same objects in every server of a process, so that each is compiled once', async () => {
    const others = new Set(
      (await registeredRoutes()).flatMap(schemasOf).map(({ schema }) => schema),
    )
    const own = routes.flatMap(schemasOf)
    assert.deepEqual(
      own.filter(({ schema }) => !others.has(schema)).map(({ name }) => name),
      [],
    )
    assert.ok(own.some(({ name }) => name === 'PUT /user body'))
  })

  test('can all be compiled, which a server does not find out before it is asked', () => {
    for (const { method, url, schema } of routes) {
      const route = { method: String(method), url }
      for (const part of Object.values(partsOf(schema))) {
        compileValidator({ ...route, schema: part })
      }
      for (const answer of Object.values(Object(schema?.response))) {
        compileSerializer({ ...route, schema: answer })
      }
    }
  })
})

/** Of a server that is built and not started, which needs no database. */
async function registeredRoutes(): Promise<RouteOptions[]> {
  const app = await buildApp({ config: configOf({}, false), log: pino({ level: 'silent' }) })
  await app.close()
  return app.openapi.routes
}

function answersOf({ method, url, schema }: RouteOptions) {
  return Object.entries(Object(schema?.response)).map(([status, answer]) => ({
    name: `${method} ${url} ${status}`,
    schema: answer,
  }))
}

function schemasOf(route: RouteOptions) {
  const { method, url, schema } = route
  const asked = Object.entries(partsOf(schema)).map(([part, checked]) => ({
    name: `${method} ${url} ${part}`,
    schema: checked,
  }))
  return [...asked, ...answersOf(route)]
}

/** What of a request has a schema. */
function partsOf(schema: RouteOptions['schema']): Record<string, unknown> {
  const { body, params, querystring, headers } = { ...schema }
  const parts = Object.entries({ body, params, querystring, headers })
  return Object.fromEntries(parts.filter(([, part]) => part !== undefined))
}

/** The places below a schema, as paths, where the serializer would have to try one after the other. */
function choicesIn(node: unknown, path: string): string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) => {
    const inner = `${path}/${key}`
    return /^(anyOf|oneOf|if)$/.test(key) ? [inner] : choicesIn(value, inner)
  })
}
