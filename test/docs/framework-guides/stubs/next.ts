/** In place of next/headers, next/navigation and next/server, and of the runtime of JSX. */
import { allInJar, jar, Left, setInJar } from './jar.ts'

export { jar }

let isRendering = false

/** Calls a server component: there, cookies cannot be set. */
export async function render(component: () => Promise<unknown>): Promise<string> {
  isRendering = true
  try {
    return JSON.stringify(await component())
  } finally {
    isRendering = false
  }
}

export async function cookies() {
  return {
    getAll: allInJar,
    set(...[name, value, options]: Parameters<typeof setInJar>) {
      if (isRendering) throw new Error('Cookies can only be modified in an action or a route')
      setInJar(name, value, options)
    },
  }
}

export function redirect(location: string): never {
  throw new Left(location)
}

export class NextResponse {
  readonly location: string | undefined
  readonly cookies = { set: setInJar }
  constructor(location?: string) {
    this.location = location
  }
  static next(): NextResponse {
    return new NextResponse()
  }
  static redirect(url: URL): NextResponse {
    return new NextResponse(url.href)
  }
}

/** What the handlers read of a NextRequest. */
export function createNextRequest(url: string) {
  return {
    nextUrl: new URL(url),
    cookies: { getAll: allInJar, set: (name: string, value: string) => jar.set(name, value) },
  }
}

export const jsx = (type: unknown, props: unknown) => ({ type, props })
export const jsxs = jsx
