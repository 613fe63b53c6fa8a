/** The theme that VitePress brings, with colours of enough contrast. */
import DefaultTheme from "vitepress/theme";
import "./style.css";

export default DefaultTheme;
