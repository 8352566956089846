/** (SAML logout, code exchange): no session remains after a logout at the identity provider. */
import { createHash } from 'node:crypto'

import { type Pair, runRaces, trueFacts } from '../support/races/pairs.ts'
import { suiteOfRaces } from '../support/races/suite.ts'
import type { Users } from '../support/races/users.ts'
import { call } from '../support/requests.ts'
import { type Idp, signedResponse } from '../support/saml/idp.ts'
import {
  base64,
  buildLogoutRequest,
  idpWithLogout,
  postMessage,
  signedMessage,
} from '../support/saml/logout.ts'
import { addIdp, begin, post, samlOn } from '../support/saml/server.ts'

interface Login {
  idp: Idp
  providerId: string
  code: { auth_code: string; code_verifier: string }
}

const verifier = 'v'.repeat(50)
const pkce = {
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 's256',
}

function logoutAndExchange({ app }: Users): Pair<Login> {
  return {
    invariant: 'After a logout at the identity provider, no session of its user exists.',
    async prepare() {
      const { idp, id } = await addIdp(app, {}, idpWithLogout('HTTP-POST'))
      const { relayState, requestId } = await begin(app, { provider_id: id, ...pkce })
      const redirect = await post(app, signedResponse({ idp, requestId }), relayState)
      const code = { auth_code: redirect.query.code ?? '', code_verifier: verifier }
      return { idp, providerId: id, code }
    },
    first: ({ idp, providerId }) => {
      const request = buildLogoutRequest(idp, { id: `_${providerId}` })
      const xml = signedMessage(request, idp, 'LogoutRequest')
      return postMessage(app, { SAMLRequest: base64(xml) })
    },
    second: ({ code }) => call(app, '/token?grant_type=pkce', code),
    async violations({ providerId }, { first }) {
      const sessions = await app.db
        .selectFrom('sessions')
        .innerJoin('identities', 'identities.user_id', 'sessions.user_id')
        .select('sessions.id')
        .where('identities.provider', '=', `sso:${providerId}`)
        .execute()
      return trueFacts({
        [`the logout returned ${first.statusCode}`]: first.statusCode !== 200,
        [`there are ${sessions.length} sessions`]: sessions.length !== 0,
      })
    },
  }
}

suiteOfRaces('races with a SAML logout: no session remains', samlOn, {
  'a logout and the exchange of a code': (users) => runRaces(logoutAndExchange(users), 8),
})
