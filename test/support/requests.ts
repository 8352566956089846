/** HTTP requests of apps, and their responses. */
import type { Session } from '../../schemas/session.ts'
import type { App } from './server.ts'

interface Call {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD'
  token?: string
  headers?: Record<string, string>
}

/** Sends a JSON body, or none for GET. */
export function call(app: App, url: string, payload?: object, options: Call = {}) {
  const { method = payload ? 'POST' : 'GET', token, headers } = options
  return app.inject({
    method,
    url,
    headers: { ...(token && { authorization: `Bearer ${token}` }), ...headers },
    ...(payload && { payload }),
  })
}

export const bearer = ({ access_token }: Pick<Session, 'access_token'>) => ({
  authorization: `Bearer ${access_token}`,
})

export const getUser = (app: App, { access_token: token }: Pick<Session, 'access_token'>) =>
  call(app, '/user', undefined, { token })

export const changeUser = (app: App, token: string, changes: object) =>
  call(app, '/user', changes, { method: 'PUT', token })

export const verify = (app: App, verification: object) => call(app, '/verify', verification)

export const refresh = (app: App, refreshToken: string, headers: Record<string, string> = {}) =>
  call(app, '/token?grant_type=refresh_token', { refresh_token: refreshToken }, { headers })

/** Status and error code of a response. */
export function statusAndCode(response: { statusCode: number; json: () => unknown }) {
  const { error_code: code }: { error_code?: string } = Object(response.json())
  return [response.statusCode, code ?? '']
}
