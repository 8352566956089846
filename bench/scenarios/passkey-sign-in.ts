import { type Authenticator, newAuthenticator } from '../../test/support/authenticator.ts'
import { type SignedInPerson, signedInPeople, times } from '../people.ts'
import type { Scenario } from '../scenario.ts'
import type { Target } from '../target.ts'

interface Question {
  challenge_id: string
  options: { challenge: string; user: { id: string }; rp: { id: string } }
}

/** A passkey opens a session, one person per connection. The challenges, which are spent, are made and signed before. */
export const passkeySignIn: Scenario = {
  name: 'passkey-sign-in',
  async prepare(target, { connections, stock }) {
    const people = await signedInPeople(target, connections)
    const devices = await Promise.all(people.map((person) => register(target, person)))
    const answers = await times(stock, (i) => answer(target, devices[i % connections]))
    return {
      stock,
      request: (i) => ({
        method: 'POST',
        path: '/passkeys/authentication/verify',
        body: answers[i] ?? {},
      }),
    }
  },
}

async function register(target: Target, { access_token: token }: SignedInPerson) {
  const { challenge_id, options } = await target.call<Question>({
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

async function answer(target: Target, device: Authenticator | undefined) {
  const path = '/passkeys/authentication/options'
  const { challenge_id, options } = await target.call<Question>({ method: 'POST', path, body: {} })
  return { challenge_id, credential: device?.get(options) }
}
