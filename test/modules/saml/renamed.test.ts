/** Single sign-on after a SCIM client gave a user another userName, which is the NameID. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import { sharedServers } from '../../support/processes/shared-servers.ts'
import { signedResponse } from '../../support/saml/idp.ts'
import { addIdp, post, samlOn } from '../../support/saml/server.ts'
import { findScimAccount, newClient, newOrganization, scimOn } from '../../support/scim/clients.ts'

suite('SCIM user with another userName', () => {
  const servers = sharedServers()

  async function provisioned() {
    const { app } = await servers({ ...scimOn, ...samlOn })
    const organization_id = await newOrganization(app, `${crypto.randomUUID()}.test`)
    const { idp, id } = await addIdp(app)
    const client = await newClient(app, { organization_id, sso_provider_id: id })
    /** Returns the account that the sign-in opens. */
    const signIn = async (nameId: string) => {
      const xml = signedResponse({ idp, nameId, attributes: { mail: [`${nameId}@corp.example`] } })
      const { fragment, location } = await post(app, xml)
      assert.ok(fragment.access_token, location.href)
      return decodeJwt(fragment.access_token).sub
    }
    const user = await client.create({ userName: 'ann' })
    const { user_id: account } = await findScimAccount(app, user.id)
    assert.equal(await signIn('ann'), account)
    const rename = () =>
      client.patch(
        `/Users/${user.id}`,
        { op: 'replace', path: 'userName', value: 'ann.smith' },
        { op: 'replace', path: 'emails', value: [{ value: 'ann.smith@corp.example' }] },
      )
    return { client, user, signIn, account, rename }
  }

  async function renamed() {
    const { rename, ...result } = await provisioned()
    const response = await rename()
    assert.equal(response.statusCode, 200, response.body)
    return result
  }

  test('signs in to the same account under the new name', async () => {
    const { signIn, account } = await renamed()
    assert.equal(await signIn('ann.smith'), account)
  })

  test('is not opened by a new user who gets the earlier name and address', async () => {
    const { signIn, account } = await renamed()
    assert.notEqual(await signIn('ann'), account)
  })

  test('is rejected, and unchanged, when another account signed in under the new name', async () => {
    const { client, user, rename, signIn, account } = await provisioned()
    const other = await signIn('ann.smith')
    const response = await rename()
    assert.deepEqual([response.statusCode, response.json().scimType], [409, 'uniqueness'])
    assert.deepEqual(await client.request('GET', `/Users/${user.id}`), user)
    assert.equal(await signIn('ann'), account)
    assert.equal(await signIn('ann.smith'), other)
    assert.notEqual(other, account)
  })
})
