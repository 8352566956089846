import { render } from 'preact'

import { start } from './core/credentials.ts'
import { followMe } from './core/me.ts'
import { startRouter } from './core/router.ts'
import { App } from './shell/app.tsx'

const root = document.getElementById('root')
if (root) {
  startRouter()
  followMe()
  render(<App />, root)
  start()
}
