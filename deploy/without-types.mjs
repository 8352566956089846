/** Loaded first (`node --import`) where strip-types.ts has been: files called .ts are JavaScript there. */
import { registerHooks } from 'node:module'

registerHooks({
  load: (url, context, nextLoad) =>
    nextLoad(url, url.endsWith('.ts') ? { ...context, format: 'module' } : context),
})
