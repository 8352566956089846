import { type Authenticator, newAuthenticator } from '../../test/support/factors/authenticator.ts'
import type { Scenario } from '../core/scenario.ts'
import type { Target } from '../core/target.ts'
import { type SignedInUser, signedInUsers, times } from '../core/users.ts'

interface Challenge {
  challenge_id: string
  options: { challenge: string; user: { id: string }; rp: { id: string } }
}

/** A sign-in by passkey, one user per connection. The single-use challenges are created and signed before. */
export const passkeySignIn: Scenario = {
  name: 'passkey-sign-in',
  async prepare(target, { connections, stock }) {
    const users = await signedInUsers(target, connections)
    const devices = await Promise.all(users.map((user) => register(target, user)))
    const responses = await times(stock, (i) => respond(target, devices[i % connections]))
    return {
      stock,
      request: (i) => ({
        method: 'POST',
        path: '/passkeys/authentication/verify',
        body: responses[i] ?? {},
      }),
    }
  },
}

async function register(target: Target, { access_token: token }: SignedInUser) {
  const { challenge_id, options } = await target.call<Challenge>({
    method: 'POST',
    path: '/passkeys/registration/options',
    token,
    body: {},
  })
  const rpId = options.rp.id
  const origin = rpId === 'localhost' ? 'http://localhost:3000' : `https://${rpId}`
  const device = newAuthenticator({ rpId, origin, verifies: true, syncs: true, discoverable: true })
  const credential = device.create(options)
  const path = '/passkeys/registration/verify'
  await target.call({ method: 'POST', path, token, body: { challenge_id, credential } })
  return device
}

async function respond(target: Target, device: Authenticator | undefined) {
  const path = '/passkeys/authentication/options'
  const { challenge_id, options } = await target.call<Challenge>({ method: 'POST', path, body: {} })
  return { challenge_id, credential: device?.get(options) }
}
