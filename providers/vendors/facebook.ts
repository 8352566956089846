import { createHmac } from 'node:crypto'

import { isSameUri } from '../../schemas/values/uris.ts'
import { email, fullName, toProfileNames } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { baseUrl } from '../http/base-url.ts'
import { asBoolean, asText, getPath } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'

const web = 'https://www.facebook.com'

export const facebook: NamedProviderDefinition = {
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
      'Users who signed up with a phone number have no email address: set AUTH_EXTERNAL_FACEBOOK_EMAIL_OPTIONAL=true to accept them.',
      'id_tokens of Limited Login are accepted without verifying their nonce.',
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
        const id = asText(getPath(user, 'id'))
        const nickname = asText(getPath(user, 'name'))
        const name = fullName(
          asText(getPath(user, 'first_name')),
          asText(getPath(user, 'last_name')),
        )
        const picture = asText(getPath(user, 'picture', 'data', 'url'))
        return {
          sub: id,
          claims: { ...toProfileNames(id, name, picture), iss, nickname, slug: nickname },
          emails: email(asText(getPath(user, 'email')), { verified: true }),
        }
      },
    })
  },

  idToken: {
    accepts: (issuer, settings) => isSameUri(issuer, baseUrl(settings, web)),
    nonce: false,
    profile({ sub = '', iss, name, picture, ...claims }) {
      return {
        sub,
        claims: { iss, sub, provider_id: sub, name, picture },
        emails: email(asText(claims.email), { verified: asBoolean(claims.email_verified) }),
      }
    },
  },
}
