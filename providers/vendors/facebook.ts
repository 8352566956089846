import { createHmac } from 'node:crypto'

import { baseUrl } from '../base-url.ts'
import { email, fullName, person } from '../identity.ts'
import { at, text, unlessDenied } from '../json.ts'
import { oauth2Provider } from '../oauth2.ts'
import type { Vendor } from '../provider.ts'

const web = 'https://www.facebook.com'

export const facebook: Vendor = {
  name: 'Facebook',
  docs: {
    title: 'Facebook',
    register: 'https://developers.facebook.com/apps',
    steps: [
      'Create an app with the use case "Authenticate and request data from users with Facebook Login"; allow the permission `email`.',
      'Enter the redirect URI under "Valid OAuth Redirect URIs" of Facebook Login.',
      'App id and app secret are under "App settings", "Basic".',
    ],
    scopes: 'email',
    url: 'replaces www.facebook.com and graph.facebook.com',
    notes: [
      'People who signed up with a phone number have no address: set AUTH_EXTERNAL_FACEBOOK_EMAIL_OPTIONAL=true to let them in.',
      'id_tokens of Limited Login are accepted; their nonce is not checked.',
    ],
  },

  create(settings, upstream) {
    const graph = baseUrl(settings, 'https://graph.facebook.com')
    const iss = `${graph}/me?fields=email,first_name,last_name,name,picture`
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({
        authorize: `${baseUrl(settings, web)}/dialog/oauth`,
        token: `${graph}/oauth/access_token`,
      }),
      scopes: ['email'],
      async profile({ get, tokens }) {
        const proof = createHmac('sha256', settings.secret ?? '').update(tokens.accessToken)
        const user = await get(`${iss}&appsecret_proof=${proof.digest('hex')}`)
        const id = text(at(user, 'id'))
        const nickname = text(at(user, 'name'))
        const name = fullName(text(at(user, 'first_name')), text(at(user, 'last_name')))
        const picture = text(at(user, 'picture', 'data', 'url'))
        return {
          sub: id,
          claims: { ...person(id, name, picture), iss, nickname, slug: nickname },
          emails: email(text(at(user, 'email')), { verified: true }),
        }
      },
    })
  },

  idToken: {
    accepts: (issuer, settings) => issuer === baseUrl(settings, web),
    nonce: false,
    profile({ sub = '', iss, name, picture, ...claims }) {
      return {
        sub,
        claims: { iss, sub, provider_id: sub, name, picture },
        emails: email(text(claims.email), { verified: unlessDenied(claims.email_verified) }),
      }
    },
  },
}
