import page from './page.ts'
import preview from './preview.ts'

export const siteRoutes = { page, preview }
