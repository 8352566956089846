import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, suite, test } from 'node:test'

import pino from 'pino'

import { openapiText } from '../../../cli/openapi.ts'
import { everyFeature } from '../../../config/every-feature.ts'
import { buildApp } from '../../../server/app.ts'
import { testConfig } from '../../support/config.ts'
import type { Ending } from '../../support/processes/ending.ts'

interface Operation {
  summary?: string
  tags?: string[]
  security?: object[]
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>
}

interface Described {
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
}

suite('OpenAPI document', () => {
  let text: string
  let document: Described

  before(async () => {
    text = await openapiText()
    document = JSON.parse(text)
  })

  test('has version 3.1 of OpenAPI', () => assert.match(JSON.parse(text).openapi, /^3\.1\./))

  test('equals the committed file', () => {
    const committed = readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8')
    assert.equal(committed, text)
  })

  test('contains exactly the registered routes except HEAD and hidden ones', async (t) => {
    const registered = await registeredRoutes(t)
    const described = operations(document).map(({ name }) => name)
    assert.deepEqual(described.toSorted(), registered.toSorted())
    assert.ok(described.includes('POST /signup'))
  })

  test('gives each operation a summary, a tag and its errors', () => {
    const known = document.tags.map(({ name }) => name)
    for (const { name, operation } of operations(document)) {
      assert.ok(operation.summary, `${name} has no summary`)
      assert.equal(operation.tags?.length, 1, `${name} has not one tag`)
      assert.ok(known.includes(operation.tags?.[0] ?? ''), `${name} has an undeclared tag`)
      const isScim = operation.tags?.[0] === 'scim'
      const [media, title] = isScim
        ? ['application/scim+json', 'ScimError']
        : ['application/json', 'Error']
      for (const status of ['4XX', '5XX']) {
        const schema = operation.responses[status]?.content?.[media]?.schema
        assert.deepEqual(schema, { $ref: `#/components/schemas/${title}` }, `${name} ${status}`)
      }
      const descriptions = Object.values(operation.responses).map(
        (response) => response.description,
      )
      assert.ok(!descriptions.includes('Default Response'), name)
    }
  })

  test('declares pages as text/html', () => {
    const listTypes = (name: string, status: string) => {
      const found = operations(document).find((described) => described.name === name)
      return Object.keys(found?.operation.responses[status]?.content ?? {})
    }
    for (const name of ['GET /verify', 'GET /sessions/end', 'POST /sessions/end']) {
      assert.deepEqual(listTypes(name, '200'), ['text/html'], name)
    }
    for (const name of ['GET /sessions/end', 'POST /sessions/end']) {
      assert.deepEqual(listTypes(name, '400'), ['text/html', 'application/json'], name)
    }
  })

  test('requires a token in the user, mfa, admin, organizations and SCIM groups only', () => {
    const open = /^\/scim\/v2\/.*(ServiceProviderConfig|ResourceTypes|Schemas)/
    for (const { name, operation } of operations(document)) {
      const [tag = ''] = operation.tags ?? []
      // Its consent page and its clients authenticate in different ways.
      if (tag === 'oauth') continue
      const isGuarded = /^(user|mfa|admin|organizations|scim)$/.test(tag)
      const isOpen = !isGuarded || open.test(name.split(' ')[1] ?? '')
      assert.deepEqual(operation.security, isOpen ? [] : [{ bearer: [] }], name)
    }
  })
})

/** From a server that is built and not started, without a database. */
async function registeredRoutes(t: Ending): Promise<string[]> {
  const app = await buildApp({
    config: testConfig(everyFeature(), false),
    log: pino({ level: 'silent' }),
  })
  t.after(() => app.close())
  return app.openapi.routes
    .filter(({ schema }) => !schema?.hide && !schema?.tags?.includes('pages'))
    .flatMap(({ method, url }) =>
      [method]
        .flat()
        .filter((name) => name !== 'HEAD')
        .map((name) => `${name} ${url.replace(/:(\w+)/g, '{$1}')}`),
    )
}

function operations({ paths }: Described) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  )
}
