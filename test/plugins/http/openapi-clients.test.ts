/** What generators of clients and documentation need of the OpenAPI document. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'

import { openapiText } from '../../../cli/openapi.ts'

interface Parameter {
  name: string
  required?: boolean
  schema: { enum?: string[] }
}

interface Media {
  schema: { required?: string[]; properties?: Record<string, { enum?: string[] }> }
  example?: unknown
}

interface Operation {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Record<string, Media> }
  responses: Record<string, { content?: Record<string, Media> }>
}

const root = join(import.meta.dirname, '../../..')

suite('OpenAPI document for generators', () => {
  let paths: Record<string, Record<string, Operation>>

  before(async () => {
    paths = JSON.parse(await openapiText()).paths
  })

  const operations = () => Object.values(paths).flatMap((methods) => Object.values(methods))
  function getOperation(method: string, path: string): Operation {
    const operation = paths[path]?.[method]
    assert.ok(operation)
    return operation
  }
  const getBodySchema = (path: string) =>
    getOperation('post', path).requestBody?.content['application/json']?.schema

  test('is valid, with resolvable references, by Redocly’s recommended-strict rules', () => {
    const args = ['lint', 'docs/openapi.json', '--extends=recommended-strict', '--format=json']
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/redocly'), args, {
      cwd: root,
      env,
      encoding: 'utf8',
    })
    assert.deepEqual(JSON.parse(stdout).problems, [])
    assert.equal(status, 0)
  })

  test('gives each operation a unique id from method and path', () => {
    const names = operations().map(({ operationId }) => operationId)
    assert.equal(new Set(names).size, names.length)
    assert.equal(getOperation('get', '/admin/users').operationId, 'getAdminUsers')
    assert.equal(getOperation('get', '/admin/users/{user_id}').operationId, 'getAdminUser')
    const sessions = getOperation('delete', '/admin/users/{user_id}/sessions/{id}')
    assert.equal(sessions.operationId, 'deleteAdminUserSession')
  })

  test('names the parameters of the sign-in with a provider', () => {
    const { parameters = [] } = getOperation('get', '/authorize')
    assert.deepEqual(
      parameters.filter(({ required }) => required).map(({ name }) => name),
      ['provider'],
    )
    const names = parameters.map(({ name }) => name)
    for (const name of ['scopes', 'redirect_to', 'code_challenge', 'code_challenge_method']) {
      assert.ok(names.includes(name), name)
    }
    const returned = getOperation('get', '/callback').parameters?.map(({ name }) => name)
    for (const name of ['state', 'code', 'error']) assert.ok(returned?.includes(name), name)
  })

  test('describes the form posted by Apple', () => {
    const { requestBody } = getOperation('post', '/callback')
    const form = requestBody?.content['application/x-www-form-urlencoded']
    assert.ok(form?.schema.properties?.state)
  })

  test('lists required fields and enum values', () => {
    assert.deepEqual(getBodySchema('/recover')?.required, ['email'])
    assert.deepEqual(getBodySchema('/resend')?.required, ['type'])
    assert.deepEqual(getBodySchema('/resend')?.properties?.type?.enum, [
      'signup',
      'email_change',
      'sms',
      'phone_change',
    ])
    const [grant] = getOperation('post', '/token').parameters ?? []
    assert.equal(grant?.required, true)
    assert.ok(grant.schema.enum?.includes('refresh_token'))
    assert.deepEqual(getBodySchema('/admin/keys')?.properties?.action?.enum, [
      'rotate',
      'revoke',
      'import',
    ])
    assert.equal(getOperation('delete', '/user').requestBody?.required, false)
  })

  test('has an example for each JSON response', () => {
    for (const { operationId, responses } of operations()) {
      for (const [status, { content }] of Object.entries(responses)) {
        const media = content?.['application/json']
        assert.ok(!media || media.example !== undefined, `${operationId} ${status}`)
      }
    }
  })
})
