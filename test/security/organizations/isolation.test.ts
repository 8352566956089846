/** Generated: every endpoint of an organization, for each role of two organizations, against both. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { effectivePermissions } from '../../../schemas/organizations/permissions.ts'
import { adminOk, as, organizationsOn } from '../../support/organizations/organizations.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'
import { signUpUser } from '../../support/users.ts'
import { endpoints, fillPath, openEndpoints, unknownIds } from './endpoints.ts'
import { readOrganizationRows, type Tenant, tenant } from './tenants.ts'

/** The roles of each organization, with the stored permissions of the custom one. */
const auditor = ['audit:read', 'organization:read']

suite('isolation of organizations', () => {
  const ending = endingOfSuite()
  let app: App
  let tenants: [Tenant, Tenant]
  let checked = 0
  before(async () => {
    app = (await build(ending, { env: organizationsOn })).app
    tenants = [await tenant(app, 'first', auditor), await tenant(app, 'second', auditor)]
  })

  test('covers every endpoint of an organization', async () => {
    const { paths } = JSON.parse(JSON.stringify(await app.openapi.document()))
    const names = Object.entries<object>(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const ofOne = names.filter((name) => name.includes(' /organizations/{organization_id}'))
    assert.deepEqual(ofOne.toSorted(), [...Object.keys(endpoints), ...openEndpoints].toSorted())
  })

  for (const [name, { permission, body }] of Object.entries(endpoints)) {
    test(`${name} requires ${permission}`, async () => {
      const wrong: string[] = []
      for (const target of tenants) {
        for (const own of tenants) {
          for (const [role, session] of Object.entries(own.users)) {
            const url = fillPath(name, target.id, unknownIds)
            const isOwn = own === target && role !== 'suspended'
            const permissions = effectivePermissions(role, role === 'auditor' ? auditor : [])
            const may = permissions.some((one) => one === '*' || one === permission)
            const response = await as(app, session, url, body)
            const [status, code] = response.body
              ? statusAndCode(response)
              : [response.statusCode, '']
            const expected = !isOwn
              ? code === 'organization_not_found' && status === 404
              : may
                ? status !== 403 && code !== 'organization_not_found'
                : code === 'organization_permission_required' && status === 403
            if (!expected) wrong.push(`${own.name} ${role} at ${target.name}: ${status} ${code}`)
            checked++
            // Deleted by the owner, who has the permission.
            if (name.startsWith('DELETE') && isOwn && may && permission === 'organization:delete') {
              await adminOk(app, `POST /admin/organizations/${target.id}/restore`)
            }
          }
        }
        const outsider = await signUpUser(app)
        const denied = await as(app, outsider, fillPath(name, target.id, unknownIds), body)
        if (statusAndCode(denied)[1] !== 'organization_not_found') {
          wrong.push(`a user of none: ${denied.body}`)
        }
        const [method = 'GET', url = ''] = fillPath(name, target.id, unknownIds).split(' ')
        const bare = await call(app, url, body, { method: method as 'GET' })
        if (bare.statusCode !== 401) wrong.push(`without a token: ${bare.statusCode}`)
        checked += 2
      }
      assert.deepEqual(wrong, [])
    })
  }

  for (const [name, { body }] of Object.entries(endpoints)) {
    if (!/\{(?!organization_id)/.test(name)) continue
    test(`${name} does not reach objects of another organization`, async () => {
      const [first, second] = tenants
      const before = await readOrganizationRows(app, second.id)
      for (const role of ['owner', 'admin'] as const) {
        const response = await as(
          app,
          first.users[role],
          fillPath(name, first.id, second.ids),
          body,
        )
        assert.ok([404, 422].includes(response.statusCode), `${role}: ${response.body}`)
        checked++
      }
      assert.deepEqual(await readOrganizationRows(app, second.id), before)
    })
  }

  test('leaves each organization unchanged by requests of another', async () => {
    const [first, second] = tenants
    for (const [one, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const before = await readOrganizationRows(app, other.id)
      for (const [name, { body }] of Object.entries(endpoints)) {
        await as(app, one.users.owner, fillPath(name, other.id, other.ids), body)
        checked++
      }
      assert.deepEqual(await readOrganizationRows(app, other.id), before)
    }
  })

  test('covers at least 400 combinations', () => {
    assert.ok(checked >= 400, `${checked}`)
  })
})
