/** Identity providers of large vendors, with the mapping that docs/sso.md has for each. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import { sharedServers } from '../../support/processes/shared-servers.ts'
import { addIdp, begin, post, samlOn } from '../../support/saml/server.ts'
import { createVendorIdp, vendors } from '../../support/saml/vendors.ts'

const page = readFileSync(new URL('../../../docs/sso.md', import.meta.url), 'utf8')

/** The JSON below the heading. */
function documentedMapping(vendor: string): object {
  const section = page.split(/^### /m).find((part) => part.startsWith(`${vendor}\n`)) ?? ''
  return JSON.parse(/```json\n([\s\S]*?)```/.exec(section)?.[1] ?? '')
}

/** The mapped attributes. */
const expected: Record<string, object> = {
  Okta: { given_name: 'Ann', family_name: 'Lee' },
  'Entra ID': { full_name: 'Ann Lee', custom_claims: { groups: ['g-1', 'g-2'] } },
  'Google Workspace': { given_name: 'Ann', family_name: 'Lee' },
  Keycloak: {
    given_name: 'Ann',
    family_name: 'Lee',
    custom_claims: { roles: ['staff', 'offline_access'] },
  },
  ADFS: { full_name: 'Ann Lee', custom_claims: { groups: ['Domain Users', 'Staff'] } },
}

suite('docs/sso.md', () => {
  const server = sharedServers()

  for (const [name, vendor] of Object.entries(vendors)) {
    test(`metadata, response and mapping of ${name} sign a user in`, async () => {
      const { app } = await server(samlOn)
      const idp = createVendorIdp(vendor)
      const { id } = await addIdp(app, { attribute_mapping: documentedMapping(name) }, idp)
      const subjects = []
      for (const _ of ['first', 'again']) {
        const { relayState, requestId } = await begin(app, { provider_id: id })
        const redirect = await post(app, vendor.response(idp, requestId), relayState)
        assert.equal(redirect.status, 302, redirect.location.href)
        const { sub, email, user_metadata } = decodeJwt(redirect.fragment.access_token ?? '')
        subjects.push(sub)
        assert.equal(email, 'ann.lee@corp.example')
        const names = Object.keys(expected[name] ?? {})
        const mapped = names.map((key) => [key, Object(user_metadata)[key]])
        assert.deepEqual(Object.fromEntries(mapped), expected[name])
      }
      assert.equal(new Set(subjects).size, 1)
    })
  }
})
