/** In place of React Native, AsyncStorage and the modules of Expo. */
type Listener = (state: string) => void

export const stored = new Map<string, string>()
const listeners: Listener[] = []
let visit = async (_address: string): Promise<URL> => new URL('about:blank')

export default {
  getItem: async (name: string) => stored.get(name) ?? null,
  setItem: async (name: string, value: string) => void stored.set(name, value),
  removeItem: async (name: string) => void stored.delete(name),
}

export const AppState = {
  addEventListener: (_type: string, listener: Listener) => listeners.push(listener),
}

export const createURL = (path: string) => `myapp://${path}`

export const openAuthSessionAsync = async (address: string) => ({
  type: 'success',
  url: (await visit(address)).href,
})

/** The state of the app, as the system reports it. */
export function become(state: string): void {
  for (const listener of listeners) listener(state)
}

/** How a user signs in to the provider, from its address to that of the app. */
export function visitWith(how: typeof visit): void {
  visit = how
}
