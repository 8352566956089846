/** Requests of users about their own account. */
import { newAddress, newNumber } from '../../support/users.ts'
import type { World } from '../world/index.ts'
import type { Requests } from './send.ts'

export function createUserRequests(world: World): Requests {
  const { bob, key, totp, totpChallenge, codes, organization, invitee, client } = world
  const asBob = { token: bob.access_token }
  const asInvitee = { token: invitee.access_token }
  return {
    'PUT /user': [
      { payload: { data: { b: 1 } } },
      { payload: { email: newAddress() } },
      { payload: { password: 'another correct horse' } },
      { payload: { phone: newNumber() } },
    ],
    'DELETE /user': asBob,
    'PUT /user/username': { ...asBob, payload: { username: 'bob-new' } },
    'GET /user/identities/authorize': {
      query: { provider: 'custom:acme', skip_http_redirect: 'true' },
    },
    'POST /factors': [
      { payload: { factor_type: 'totp', friendly_name: 'n' } },
      { payload: { factor_type: 'phone', phone: newNumber() } },
      { payload: { factor_type: 'webauthn', friendly_name: 'k2' } },
    ],
    'POST /factors/:factor_id/challenge': [{}, { url: `/factors/${key.id}/challenge` }],
    'POST /factors/:factor_id/verify': {
      payload: { challenge_id: totpChallenge, code: totp.code(1) },
    },
    'DELETE /factors/:factor_id': [{}, { url: `/factors/${key.id}` }],
    'POST /factors/recovery-codes/verify': { payload: { code: codes[0] } },
    'POST /factors/recovery_codes/verify': { payload: { code: codes[1] } },
    'PATCH /passkeys/:passkey_id': { payload: { friendly_name: 'other' } },
    'POST /organizations': { payload: { name: 'B' } },
    'GET /organizations/invitations': asInvitee,
    'POST /organizations/invitations/accept': { ...asInvitee, payload: { token: 'x' } },
    'POST /organizations/invitations/:invitation_id/accept': asInvitee,
    'POST /organizations/invitations/:invitation_id/decline': asInvitee,
    'POST /organizations/:organization_id/leave': { token: organization.member.access_token },
    'PUT /user/sessions/current': { payload: { organization_id: organization.id } },
    'DELETE /user/oauth/grants': { query: { client_id: client.client_id } },
  }
}
