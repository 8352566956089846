import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { type AccountPage, addAccountPage, formatTime } from '../../../modules/account/index.ts'
import { accessTokenFor, checkForm, findSignedIn } from '../../../modules/page-session/index.ts'
import { callApi, jsonIn } from '../../../modules/pages/index.ts'
import { sessionNotFound } from '../../../schemas/errors.ts'
import { OauthForm, readFormFields } from '../../../schemas/oauth/form.ts'

const path = '/account/passkeys'
const optionsUrl = '/passkeys/registration/options'

function passkeys(): AccountPage {
  return {
    path,
    summary: 'Passkeys of the user',
    async show(visit, outcome) {
      const { items } = await visit.call({ method: 'GET', url: '/passkeys' })
      return visit.show(
        'account/passkeys',
        {
          title: 'passkeys',
          data: (_say, tag) => ({
            passkeys: items.map(({ id, friendly_name, created_at, last_used_at }) => ({
              id,
              name: friendly_name ?? '',
              added: formatTime(tag, created_at),
              used: formatTime(tag, last_used_at),
            })),
          }),
        },
        outcome,
      )
    },
    actions: {
      /** Without a challenge, the script of the page got an error: the API returns the same one here. */
      async register(visit, { challenge_id, credential }) {
        if (!challenge_id) await visit.call({ url: optionsUrl })
        const payload = { challenge_id, credential: jsonIn(credential) }
        await visit.call({ url: '/passkeys/registration/verify', payload })
        return visit.leave(path, 'saved')
      },
      async rename(visit, { passkey_id: id = '', name = '' }) {
        const payload = { friendly_name: name.trim() }
        await visit.call({ method: 'PATCH', url: '/passkeys/:id', params: { id }, payload })
        return visit.leave(path, 'saved')
      },
      async remove(visit, { passkey_id: id = '' }) {
        await visit.call({ method: 'DELETE', url: '/passkeys/:id', params: { id } })
        return visit.leave(path, 'saved')
      },
    },
  }
}

const pageRoutes = addAccountPage(passkeys)

const routes: FastifyPluginAsyncTypebox = async (app, options) => {
  if (!app.config.AUTH_PASSKEY_ENABLED) return
  await pageRoutes(app, options)

  // The script of the page requests them before the browser creates a passkey.
  app.post(
    `${path}/options`,
    {
      schema: {
        summary: 'Create registration options for the account page',
        tags: ['pages'],
        body: OauthForm,
      },
    },
    async (request) => {
      checkForm(app, request, readFormFields(request.body).form_token)
      const now = new Date()
      const signedIn = await findSignedIn(app, request, now)
      if (!signedIn) throw sessionNotFound()
      const token = await accessTokenFor(app, signedIn, now)
      const { body } = await callApi(app, request, { url: optionsUrl, token })
      return body
    },
  )
}

export default routes
