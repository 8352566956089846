/** In place of @sveltejs/kit. */
import { allInJar, jar, Left, setInJar } from './jar.ts'

export { jar }

/** As SvelteKit 3 has it: another origin needs `external`. */
export function redirect(
  _status: number,
  location: string,
  { external = false }: { external?: boolean } = {},
): never {
  if (/^https?:/.test(location) && !external) throw new Error('redirect_external_not_allowed')
  throw new Left(location)
}

export function error(_status: number, message: string): never {
  throw new Left(undefined, message)
}

export function fail(status: number, data: object) {
  return { status, ...data }
}

/** The event of one request of the browser. */
export function createRequestEvent(url: string, form: Record<string, string> = {}) {
  const body = new URLSearchParams(form)
  return {
    url: new URL(url),
    request: new Request(url, { method: 'POST', body }),
    locals: {},
    cookies: {
      getAll: allInJar,
      set(...[name, value, options]: [string, string, { path: string }]) {
        // As SvelteKit demands it.
        if (options.path !== '/') throw new Error('You must specify a `path`')
        setInJar(name, value, options)
      },
    },
  }
}
