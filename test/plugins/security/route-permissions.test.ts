/** A route of /admin or /organizations declares who may call it, or the server does not start. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { FastifyContextConfig } from 'fastify'

import { createAdmin, withConsole } from '../../support/admins.ts'
import { statusAndCode } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'

const withOrganizations = { ...withConsole, AUTH_ORGANIZATIONS_ENABLED: 'true' }
const withoutFeatures = { ...withConsole, AUTH_OAUTH_SERVER_ENABLED: 'false' }
const permission = 'organizationPermission'

/** A route, and the declaration that it lacks. */
const undeclared: [string, string, FastifyContextConfig, string][] = [
  ['GET', '/admin', {}, 'minimumRole'],
  ['POST', '/admin/undeclared/:id', { [permission]: 'none' }, 'minimumRole'],
  ['PUT', '/organizations', {}, permission],
  ['DELETE', '/organizations/:organization_id/undeclared', { minimumRole: 'owner' }, permission],
]

suite('permissions of routes', () => {
  for (const [method, url, config, key] of undeclared) {
    test(`the server does not start with ${method} ${url} without a ${key}`, async (t) => {
      const prepare = (app: App) => {
        app.register(async (group) => {
          group.route({ method, url, config, handler: async () => ({}) })
        })
      }
      const message = `${method} ${url} declares no config.${key}`
      await assert.rejects(build(t, { env: withOrganizations, prepare }), { message })
    })
  }

  test('GET /admin/me lists no endpoint of a disabled feature', async (t) => {
    const { app } = await build(t, { env: withoutFeatures })
    const { request } = await createAdmin(app, 'owner')
    const { allowed } = (await request('GET', '/admin/me')).json<{ allowed: string[] }>()
    assert.ok(allowed.includes('GET /admin/users'))
    const disabled = /organization|\/oauth\/clients(?!.*consents)|\*/
    assert.deepEqual(
      allowed.filter((name) => disabled.test(name)),
      [],
    )
  })

  test('a disabled OAuth server is reported to the roles that its endpoints have', async (t) => {
    const { app } = await build(t, { env: withoutFeatures })
    const { request } = await createAdmin(app, 'operator')
    const path = '/admin/oauth/clients'
    assert.deepEqual(statusAndCode(await request('GET', path)), [404, 'feature_disabled'])
    assert.deepEqual(statusAndCode(await request('POST', path, {})), [403, 'admin_role_required'])
  })
})
