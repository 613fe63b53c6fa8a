/** The theme that VitePress brings, with colours of enough contrast and a front page inside a `main`. */
import type { Theme } from "vitepress";
import DefaultTheme, { VPHomeFeatures, VPHomeHero } from "vitepress/theme";
import { h } from "vue";
import "./style.css";

const theme: Theme = {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component("Home", () => h("main", { class: "VPHome" }, [h(VPHomeHero), h(VPHomeFeatures)]));
  },
};

export default theme;
